// Measures how translations use a glossary whose terms are taken from references:
//   node web/models/terms.mjs make TRAIN.tsv[.gz] VALID.tsv[.gz] --columns 1,0 > glossary.tsv
//   wasmformer evaluate MODEL --data VALID.tsv --columns 1,0 --output plain.txt
//   wasmformer evaluate MODEL --data VALID.tsv --columns 1,0 --glossary glossary.tsv --output with.txt
//   node web/models/terms.mjs check glossary.tsv VALID.tsv --columns 1,0 plain.txt with.txt [--sample 200]
// `make` pairs words by how often they stand in the same pairs of TRAIN (Dice's coefficient), and takes those whose
// target every reference of VALID has, one to three for a sentence. `check` counts the terms of each translation, and
// lists sentences drawn at random, to be judged by hand.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { inDrawnOrder, readPairs } from './corpus.mjs';

const LEAST_LETTERS = 4;
const LEAST_CHINESE_LETTERS = 2;
const LEAST_DICE = 0.2;
const MOST_PER_SENTENCE = 3;
const MOST_TRAINING_PAIRS = 100_000;

const { values, positionals: [command, ...files] } = parseArgs({
  allowPositionals: true, options: { columns: { type: 'string', default: '0,1' }, sample: { type: 'string', default: '0' } },
});
const [source, target] = values.columns.split(',').map(Number);
const pairsOf = (file) => readPairs(file).map((pair) => [pair[source], pair[target]]);

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' }); // divides texts with spaces as well
const wordsOf = (text) =>
  [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
const times = (words, word) => words.filter((one) => one === word).length;
const isLongEnough = (word) => word.length >= (/\p{Script=Han}/u.test(word) ? LEAST_CHINESE_LETTERS : LEAST_LETTERS);

// How often a term stands in a translation, also with another capital or as a part of a compound: “black-rimmed”.
const timesIn = (text, term) => text.toLowerCase().split(term.toLowerCase()).length - 1;

function increase(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Dice's coefficient of two words: how often they stand in the same pairs. */
function associations(pairs) {
  const sources = new Map(), targets = new Map(), both = new Map();
  for (const pair of pairs.slice(0, MOST_TRAINING_PAIRS)) {
    const [inSource, inTarget] = pair.map((text) => new Set(wordsOf(text)));
    for (const word of inSource) increase(sources, word);
    for (const word of inTarget) increase(targets, word);
    for (const a of inSource) for (const b of inTarget) increase(both, `${a}\t${b}`);
  }
  return (a, b) => (2 * (both.get(`${a}\t${b}`) ?? 0)) / ((sources.get(a) ?? 0) + (targets.get(b) ?? 0) || 1);
}

/** Terms that hold in all pairs that have their source, one to three for each pair. */
function glossaryOf(pairs, dice) {
  const withSource = new Map();
  const words = pairs.map((pair) => pair.map(wordsOf));
  words.forEach(([inSource], i) => {
    for (const word of new Set(inSource)) withSource.set(word, [...(withSource.get(word) ?? []), i]);
  });
  const left = pairs.map(() => MOST_PER_SENTENCE);
  const terms = [];
  const usedTargets = new Set();
  for (const [word, places] of inDrawnOrder([...withSource], ([word]) => word, 'terms')) {
    if (!isLongEnough(word) || places.some((i) => left[i] === 0)) continue;
    const holds = (other) => places.every((i) => times(words[i][1], other) === times(words[i][0], word));
    const partners = [...new Set(words[places[0]][1])].filter((other) => isLongEnough(other) && holds(other));
    const [best] = partners.sort((a, b) => dice(word, b) - dice(word, a));
    if (best === undefined || usedTargets.has(best) || dice(word, best) < LEAST_DICE) continue;
    usedTargets.add(best);
    for (const i of places) left[i] -= 1;
    terms.push([word, best]);
  }
  return terms;
}

function make([train, valid]) {
  for (const term of glossaryOf(pairsOf(valid), associations(pairsOf(train)))) console.log(term.join('\t'));
}

const linesOf = (file) => readFileSync(file, 'utf8').trimEnd().split('\n');

function check([glossaryFile, valid, plainFile, withFile]) {
  const terms = linesOf(glossaryFile).map((line) => line.split('\t'));
  const plain = linesOf(plainFile), translated = linesOf(withFile);
  const counts = { sentences: 0, terms: 0, 'terms missing': 0, 'terms too often': 0, 'terms that plain had': 0 };
  const seen = [];
  pairsOf(valid).forEach(([text, reference], i) => {
    const here = terms.filter(([word]) => wordsOf(text).includes(word));
    if (here.length === 0) return;
    counts.sentences += 1;
    for (const [word, other] of here) {
      const wanted = times(wordsOf(text), word), found = timesIn(translated[i], other);
      const before = timesIn(plain[i], other);
      counts.terms += 1;
      if (found < wanted) counts['terms missing'] += 1;
      if (found > wanted + before) counts['terms too often'] += 1;
      if (before >= wanted) counts['terms that plain had'] += 1;
    }
    seen.push([here.map((term) => term.join(' = ')).join(', '), text, reference, plain[i], translated[i]]);
  });
  for (const [name, count] of Object.entries(counts)) console.log(`${name}: ${count}`);
  const changed = seen.filter(([, , , before, after]) => before !== after);
  console.log(`translations that the terms changed: ${changed.length}`);
  for (const sentence of inDrawnOrder(seen, ([, text]) => text, 'sample').slice(0, Number(values.sample)))
    console.log(`\n${sentence.join('\n  ')}`);
}

const commands = { make, check };
if (!commands[command]) throw new Error('usage: terms.mjs make TRAIN VALID | check GLOSSARY VALID PLAIN WITH');
commands[command](files);
