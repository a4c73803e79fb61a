// `npm run bench -- --labelled DIR [--minutes N] [--only REGEX]`: classifiers trained with all defaults for at most four
// minutes, beside logistic regression on words and pairs of words. Each folder of DIR has train.gz and valid.gz, and
// perhaps test.gz, of lines LABEL TAB TEXT.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { root } from '../../bindings/tools/shell.mjs';
import { run } from './multi30k.mjs';
import { trainOnWords, wordsOf } from './words.mjs';

const seeds = [21, 22, 23]; // none of them was used to choose a setting
const output = join(root, 'build/bench/labelled');

function readExamples(file) {
  const lines = gunzipSync(readFileSync(file)).toString().split('\n').filter(Boolean);
  return lines.map((line) => {
    const [label, ...text] = line.split('\t');
    return { label, text: text.join('\t') };
  });
}

const writeExamples = (file, examples) =>
  writeFileSync(file, examples.map(({ label, text }) => `${label}\t${text}\n`).join(''));

// The labelled parts that a model is measured on. `unknown` has the validation texts with a word that training lacks.
function readParts(folder) {
  const train = readExamples(join(folder, 'train.gz'));
  const valid = readExamples(join(folder, 'valid.gz'));
  const known = new Set(train.flatMap(({ text }) => wordsOf(text)));
  const unknown = valid.filter(({ text }) => wordsOf(text).some((word) => !known.has(word)));
  const test = join(folder, 'test.gz');
  const parts = { valid, unknown, ...(existsSync(test) && { test: readExamples(test) }) };
  return { train, parts: Object.fromEntries(Object.entries(parts).filter(([, examples]) => examples.length > 0)) };
}

// A folder is that of a classification corpus if its lines are a label and a text, and labels recur.
function isClassification(folder) {
  if (!existsSync(join(folder, 'train.gz')) || !existsSync(join(folder, 'valid.gz'))) return false;
  const text = gunzipSync(readFileSync(join(folder, 'train.gz'))).toString();
  const lines = text.split('\n').filter(Boolean);
  if (text.includes('\n\n')) return false; // sentences of tagged words
  const labels = new Set(lines.map((line) => line.split('\t')[0]));
  return labels.size < lines.length / 20;
}

const share = (right, examples) => 100 * right.length / examples.length;

function measureWords(train, parts) {
  const predict = trainOnWords(train);
  return Object.fromEntries(Object.entries(parts).map(([part, examples]) =>
    [part, share(examples.filter(({ label, text }) => predict(text) === label), examples)]));
}

function evaluate(model, file, flags = []) {
  return JSON.parse(run(['evaluate', model, '--labels', file, '--json', ...flags])).accuracy;
}

/** Adds the accuracy of each corpus and part to `figures`, a value for each seed. */
export function labelled(folder, figures, { minutes, wanted, log }) {
  const add = (title, value) => figures.set(title, [...(figures.get(title) ?? []), value]);
  for (const name of readdirSync(folder).filter((name) => wanted(name) && isClassification(join(folder, name)))) {
    const { train, parts } = readParts(join(folder, name));
    const here = join(output, name);
    rmSync(here, { recursive: true, force: true });
    mkdirSync(here, { recursive: true });
    const file = (part) => join(here, `${part}.tsv`);
    for (const [part, examples] of Object.entries({ train, ...parts })) writeExamples(file(part), examples);
    const words = measureWords(train, parts);
    for (const [part, accuracy] of Object.entries(words)) add(`% right, ${name}, ${part}: words and pairs`, accuracy);
    for (const seed of seeds) {
      const trained = join(here, String(seed));
      run(['train', '--labels', file('train'), '--valid-labels', file('valid'), '--max-minutes', minutes,
        '--seed', String(seed), '--threads', '2', '--output', trained]);
      const model = join(trained, 'best.safetensors');
      for (const part of Object.keys(parts)) {
        const accuracy = evaluate(model, file(part));
        const alone = evaluate(model, file(part), ['--encoder-alone']);
        add(`% right, ${name}, ${part}: wasmformer`, accuracy);
        add(`% right, ${name}, ${part}: its encoder alone`, alone);
        log(`${name}, seed ${seed}, ${part}: ${accuracy.toFixed(1)}, the encoder alone ${alone.toFixed(1)}, `
          + `words and pairs ${words[part].toFixed(1)}`);
      }
    }
  }
}
