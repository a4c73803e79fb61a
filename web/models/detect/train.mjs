// Trains the language detector on the texts that texts.mjs wrote, and writes its file:
//   node web/models/detect/train.mjs [--texts DIR] [--output FILE] [--set NAME=VALUE]…
// One text in 25 is not learned: on these the threshold for unknown texts is chosen, and the script prints how well the
// model does on them. The same texts give the same file.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readCorpus } from './corpus.mjs';
import { bestGrams, scoreGrams } from './grams.mjs';
import { learn } from './learn.mjs';
import { recipe, textFolder } from './texts.mjs';
import { fileWithThreshold, printRows } from './validate.mjs';

const { values } = parseArgs({ options: {
  texts: { type: 'string', default: textFolder },
  output: { type: 'string', default: 'detect.safetensors' },
  set: { type: 'string', multiple: true, default: [] },
} });
const changes = values.set.map((change) => change.split('=')).map(([name, value]) => [name, Number(value)]);
const settings = { ...recipe.settings, ...Object.fromEntries(changes) };
const log = (text) => console.log(`${process.uptime().toFixed(0)} s: ${text}`);

const corpus = readCorpus(values.texts, settings);
log(`${corpus.texts.reduce((sum, { length }) => sum + length, 0)} texts, ${corpus.names.length} words`);
const grams = bestGrams(scoreGrams(corpus, settings.damping), settings.grams);
log(`${grams.length} n-grams`);
const weights = learn(corpus, grams, settings, log);
const { file, rows } = fileWithThreshold({ weights, grams, corpus }, settings.plainUnknown, log);
writeFileSync(values.output, file);
log(`${values.output}: ${file.length} bytes`);
printRows(rows, console.log);
const { user, system } = process.cpuUsage();
log(`${((user + system) / 1e6).toFixed(0)} s of a core`);
