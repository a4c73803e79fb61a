// Trains the language detector on the texts that texts.mjs wrote, and writes its file:
//   node web/models/detect/train.mjs [--texts DIR] [--output FILE] [--held-out PACKAGE]… [--set NAME=VALUE]…
// Texts of packages that are held out are not learned; the script then prints how well the model does on them. The same
// texts give the same file.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Detector } from '../../../dist/detect/detector.js';
import { readCorpus, readTexts } from './corpus.mjs';
import { encodeModel } from './file.mjs';
import { bestGrams, scoreGrams } from './grams.mjs';
import { learn } from './learn.mjs';
import { Score, windowsOf } from './score.mjs';
import { packages, recipe, textFolder } from './texts.mjs';

const { values } = parseArgs({ options: {
  texts: { type: 'string', default: textFolder },
  output: { type: 'string', default: 'detect.safetensors' },
  'held-out': { type: 'string', multiple: true, default: [] },
  set: { type: 'string', multiple: true, default: [] },
} });
const changes = values.set.map((change) => change.split('=')).map(([name, value]) => [name, Number(value)]);
const settings = { ...recipe.settings, ...Object.fromEntries(changes) };
const heldOut = values['held-out'];

const HELD_TEXTS = 400; // of each language

/** Scores on held-out texts of at least five words. */
function printHeldOut(detector) {
  const score = new Score();
  for (const [language, texts] of readTexts(values.texts, heldOut)) {
    const long = texts.filter((text) => windowsOf(text, language, 5).length > 0).slice(0, HELD_TEXTS);
    if (long.length < HELD_TEXTS / 8) continue;
    score.add(detector, language, 'texts', long);
    score.add(detector, language, 'windows', long.flatMap((text) => windowsOf(text, language, 3)));
  }
  score.print(['texts', 'windows']);
}

const corpus = readCorpus(values.texts, packages.filter((name) => !heldOut.includes(name)), settings.texts);
console.log(`${corpus.texts.reduce((sum, { length }) => sum + length, 0)} texts, ${corpus.names.length} words`);
const grams = bestGrams(scoreGrams(corpus, settings.damping), settings.grams);
console.log(`${grams.length} n-grams`);
const weights = learn(corpus, grams, settings, console.log);
const file = encodeModel(weights, grams, recipe.card);
writeFileSync(values.output, file);
console.log(`${values.output}: ${file.length} bytes`);
if (heldOut.length > 0) printHeldOut(new Detector(file));
