// Measures how often a model gets whole labels, and the digits of numbers, right:
//   node web/models/exact.mjs labels MODEL DIRECTION CATALOGUES [--learned train.tsv] [--wrong]
//   node web/models/exact.mjs numbers MODEL DIRECTION [PAIRS.tsv[.gz]] [--keep off] [--count 3000] [--wrong]
// `labels` are those of at most three words that the recipe of DIRECTION, such as de-en, keeps aside, that two catalogues
// translate alike, and that --learned does not have. `numbers` fills prepare/numbers.tsv COUNT times with other numbers
// than a recipe does; or it takes PAIRS, English first, of which both sides have the same digits.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { plain } from './answers.mjs';
import { length, readPairs } from './corpus.mjs';
import { numberPhrases, pairs as phrasePairs } from './phrases.mjs';
import { agreedLabels } from './prepare/catalogues.mjs';
import { readRecipe } from './prepare/sources.mjs';
import { translate } from './program.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const MOST_WORDS = 3;
const UNUSED_SEED = 46_000; // of no recipe

const { values, positionals: [command, model, direction, file] } = parseArgs({
  allowPositionals: true,
  options: {
    learned: { type: 'string' }, keep: { type: 'string' }, count: { type: 'string', default: '3000' },
    wrong: { type: 'boolean' }, program: { type: 'string', default: 'build/native/wasmformer' },
  },
});
const isFromEnglish = direction?.startsWith('en-');
const other = direction?.split('-').find((language) => language !== 'en');
const inDirection = ([english, text]) => isFromEnglish ? [english, text] : [text, english];

/** Prints how many translations `isRight` accepts. */
function report(what, sources, isRight) {
  const options = values.keep === undefined ? [] : ['--keep', values.keep];
  const translations = translate(values.program, model, sources, options);
  const wrong = sources.map((source, i) => [source, translations[i], i]).filter(([, text, i]) => !isRight(text, i));
  const right = sources.length - wrong.length;
  console.log(`${right} of ${sources.length} ${what} right (${(100 * right / sources.length).toFixed(2)}%)`);
  if (values.wrong) for (const [source, text] of wrong) console.log(`  ${source}\n    ${text}`);
}

function measureLabels() {
  const { packages } = readRecipe(join(here, direction, 'recipe.json')).prepare.parts
    .find(({ kind }) => kind === 'catalogues');
  const learned = new Set(values.learned ? readPairs(values.learned).map(([english]) => plain(english)) : []);
  const accepted = new Map();
  for (const pair of agreedLabels(file, Object.keys(packages), other)) {
    if (length(pair[0]) > MOST_WORDS || learned.has(plain(pair[0]))) continue;
    const [source, target] = inDirection(pair);
    accepted.set(source, (accepted.get(source) ?? new Set()).add(plain(target)));
  }
  const sources = [...accepted.keys()];
  report('labels', sources, (text, i) => accepted.get(sources[i]).has(plain(text)));
}

// Digits of each number, without what separates them.
const digitsOf = (text) => (text.normalize('NFKC').match(/\d+(?:[.,’'\u00a0\u202f ]\d+)*/gu) ?? [])
  .map((number) => number.replace(/\D/gu, '')).sort().join(' ');

function measureNumbers() {
  const languages = ['en', other];
  const made = () => phrasePairs({ languages, count: Number(values.count), seed: UNUSED_SEED, book: numberPhrases });
  const all = file ? readPairs(file) : made();
  const withNumbers = all.filter(([english, text]) => /\d/u.test(english) && digitsOf(english) === digitsOf(text));
  const pairs = withNumbers.map(inDirection);
  report('sentences with numbers', pairs.map(([source]) => source), (text, i) => digitsOf(text) === digitsOf(pairs[i][1]));
}

const commands = { labels: measureLabels, numbers: measureNumbers };
if (!commands[command] || !other || (command === 'labels' && !file))
  throw new Error('usage: exact.mjs labels MODEL DIRECTION CATALOGUES | numbers MODEL DIRECTION [PAIRS]');
commands[command]();
