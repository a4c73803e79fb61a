// Prepares the text that a recipe trains on, from corpora, catalogues and earlier models:
//   node web/models/prepare.mjs de-en SOURCE... [--output DIR] [--models DIR] [--program FILE] [--threads 2]
// A SOURCE is a folder of corpora that DIRECTION/recipe.json names, or one that contains it. The output (by default
// wasmformer/recipes/DIRECTION in the user's cache folder) has train.tsv, valid.tsv, tokenizer.model and more; train
// there:
//   wasmformer train --config web/models/de-en/recipe.json --output run
// Machine translations are kept beside it, so that an interrupted preparation goes on. The same sources and models give
// the same files.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { inDrawnOrder, key, readPairs, tidy } from './corpus.mjs';
import { drawing, seeded } from './phrases.mjs';
import { copies } from './prepare/copies.mjs';
import { digest, translator } from './prepare/machine.mjs';
import { isKept, kinds, spanned } from './prepare/parts.mjs';
import { finder, readRecipe } from './prepare/sources.mjs';
import { spanTokens } from './prepare/spans.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cacheFolder = () => join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'wasmformer');

const inOrder = (pairs, salt) => inDrawnOrder(pairs, (pair) => pair.join('\t'), salt);

/** Each pair as often as the weight's whole part, and a share of them, drawn by `salt`, once more. */
export function weighted(pairs, weight, salt) {
  const whole = Math.floor(weight);
  const extra = inOrder(pairs, salt).slice(0, Math.round((weight - whole) * pairs.length));
  return [...Array.from({ length: whole }, () => pairs).flat(), ...extra];
}

/** After a character that is not ASCII, ASCII punctuation becomes Chinese. */
const chineseMarks = { ',': '，', '!': '！', '?': '？', ':': '：' };
const withChineseMarks = (text) => text.replace(/(?<=[^ -~])[,!?:]/gu, (mark) => chineseMarks[mark]);

/** What the kinds of parts share; see prepare/parts.mjs. */
export function contextOf(recipe, { direction, folders, models, translate, log }) {
  const languages = direction.split('-');
  const find = finder(folders);
  const keptFiles = recipe.kept.flatMap((name) => [find(`${name}/valid.tsv.gz`), find(`${name}/test.tsv.gz`)]);
  const kept = new Set(keptFiles.flatMap(readPairs).flat().map((side) => key(tidy(side))));
  const made = new Map(), sides = new Map();
  const part = (name) => {
    if (!made.has(name)) throw new Error(`the recipe has no part '${name}' before the one that names it`);
    return made.get(name);
  };
  return {
    recipe, languages, find, kept, translate, log, made, part,
    other: languages.find((language) => language !== 'en'),
    seed: recipe.seed,
    seen: new Set(kept),
    aside: { valid: [], test: [], labels: [] },
    withCode: [], // pairs that are learned only with placeholders
    sides(name) {
      if (!sides.has(name)) sides.set(name, new Set(part(name).flat().map((side) => key(tidy(side)))));
      return sides.get(name);
    },
    model(name) {
      const file = join(models, `${name}.safetensors`);
      const found = digest(readFileSync(file));
      const wanted = recipe.models[name];
      if (found === wanted) return file;
      throw new Error(`${file} is not the recipe's model, whose SHA-256 is ${wanted}; `
        + 'give --models the folder that has it');
    },
  };
}

/** All pairs to train on. */
export function pairsOf(recipe, context) {
  const { log } = context;
  const all = [];
  for (const part of recipe.parts) {
    const pairs = kinds[part.kind](part, context).filter((pair) => !isKept(pair, context));
    context.made.set(part.name, pairs);
    const taken = weighted(pairs, part.weight ?? 1, `${recipe.seed} ${part.name}`);
    log(`${part.name}: ${pairs.length} pairs, taken ${part.weight ?? 1} times: ${taken.length}`);
    for (const pair of taken) all.push(pair);
  }
  // What is kept aside from the corpora stays out of all parts.
  for (const side of [...context.aside.valid, ...context.aside.test].flat()) context.kept.add(key(side));
  const plain = all.filter((pair) => !isKept(pair, context));
  const draw = drawing(seeded(recipe.seed));
  const source = context.languages[0] === 'en' ? 0 : 1;
  const changed = copies(plain, recipe.copies, draw, source);
  log(`changed copies: ${changed.length}`);
  const total = plain.length + changed.length;
  const withSpans = spanned(plain, Math.round(total * recipe.spans / (1 - recipe.spans)), context, draw);
  const share = withSpans.length / (total + withSpans.length);
  log(`pairs with placeholders: ${withSpans.length}, ${(100 * share).toFixed(1)} % of all`);
  const marked = (pair) => recipe['chinese-marks'] ? [pair[0], withChineseMarks(pair[1])] : pair;
  return [...plain, ...changed, ...withSpans].map(marked);
}

function writePairs(file, pairs) {
  writeFileSync(`${file}.unfinished`, pairs.map((pair) => `${pair.join('\t')}\n`).join(''));
  renameSync(`${file}.unfinished`, file);
}

/** The flag for a tokenizer's normalization, whose rules are made first if it is a file of rules. */
function normalizing(name, output) {
  if (!name?.endsWith('.tsv')) return name ? ['--normalization', name] : [];
  const rules = join(output, name);
  writeFileSync(rules, execFileSync(process.execPath, [join(here, 'chinese-rules.mjs')], { maxBuffer: 2 ** 28 }));
  return ['--normalization', rules];
}

function trainTokenizer(recipe, pairs, { output, program }) {
  const { sentences, normalization, ...flags } = recipe.tokenizer;
  const text = join(output, 'tokenizer.txt');
  const sample = inOrder(pairs, `${recipe.seed} tokenizer`).slice(0, sentences);
  writeFileSync(text, sample.flat().map((line) => `${line}\n`).join(''));
  const wordsOf = ([flag, value]) => [`--${flag}`, ...value === true ? [] : [String(value)]];
  const given = Object.entries(flags).flatMap(wordsOf);
  const made = ['--symbols', spanTokens.join(','), '--output', join(output, 'tokenizer.model')];
  const words = ['tokenizer', '--input', text, ...given, ...normalizing(normalization, output), ...made];
  execFileSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  rmSync(text);
}

/** Writes the pairs to train, to validate and to test on. */
function writeParts(recipe, pairs, context, output) {
  const { valid, test, labels } = context.aside;
  const { 'short-pairs': ofShort, 'long-pairs': ofLong } = recipe.validation;
  const short = readPairs(context.find(recipe.valid));
  const files = {
    valid: [...short.slice(0, ofShort), ...inOrder(valid, 'valid').slice(0, ofLong)],
    'valid-long': valid, 'test-long': test, 'labels-held': labels, train: inOrder(pairs, 'order'),
  };
  for (const [name, part] of Object.entries(files)) writePairs(join(output, `${name}.tsv`), part);
}

function main() {
  const { values, positionals: [direction, ...folders] } = parseArgs({
    allowPositionals: true,
    options: {
      output: { type: 'string' }, threads: { type: 'string', default: '2' }, recipe: { type: 'string' },
      models: { type: 'string', default: join(here, '../public/models') },
      program: { type: 'string', default: join(here, '../../build/native/wasmformer') },
    },
  });
  if (!direction || folders.length === 0) throw new Error('usage: prepare.mjs DIRECTION SOURCE... [--output DIR]');
  const recipe = readRecipe(values.recipe ?? join(here, direction, 'recipe.json')).prepare;
  const output = values.output ?? join(cacheFolder(), 'recipes', direction);
  mkdirSync(output, { recursive: true });
  const lines = [];
  const log = (line) => {
    lines.push(line);
    console.log(line);
  };
  const translate = translator({
    program: values.program, threads: Number(values.threads), cache: join(cacheFolder(), 'translations'),
    log: (line) => process.stderr.write(`${line}\n`),
  });
  const sources = folders.map((folder) => resolve(folder));
  const context = contextOf(recipe, { direction, folders: sources, models: values.models, translate, log });
  const pairs = pairsOf(recipe, context);
  writeParts(recipe, pairs, context, output);
  trainTokenizer(recipe, pairs, { output, program: values.program });
  log(`train.tsv: ${pairs.length} pairs`);
  writeFileSync(join(output, 'prepared.txt'), lines.map((line) => `${line}\n`).join(''));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main();
