// Cleans corpora of sentence pairs and keeps parts of each aside to validate and to test on:
//   node web/models/corpus.mjs --output DIR [--kept FILE]... [--valid 60] [--test 60] [--most-words 60] NAME=FILE[:MOST]...
// A FILE, gzipped or not, has lines of two columns separated by a tab; MOST is how many of its pairs to train on. A pair
// that has a side in a --kept file or in an earlier corpus is left out. DIR/train.tsv, valid.tsv and test.tsv
// are written whole, shuffled; a sentence that occurs twice in one column never stands in two of them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';

export function readPairs(file) {
  const bytes = readFileSync(file);
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').filter((line) => line.trim()).map((line, i) => {
    const fields = line.replace(/\r$/, '').split('\t');
    if (fields.length < 2) throw new Error(`${file}: line ${i + 1} has no tab`);
    return fields.slice(0, 2);
  });
}

/** One way to write quotation marks, dashes and spaces: few tokenizers know all of them. */
export const tidy = (text) => text.normalize('NFC').replace(/[«»„“”‟]|‘‘|’’|''/gu, '"').replace(/[‹›‚‘’`´]/gu, "'")
  .replace(/\s*[–—]+\s*/gu, ' - ').replace(/…/gu, '...').replace(/[\u00AD\u200B-\u200F\uFEFF]/gu, '')
  .replace(/\s+/gu, ' ').trim();

const isHan = (text) => /\p{Script=Han}/u.test(text);
/** Words; of Chinese, characters by 1.7, about as many as English takes. */
export const length = (text) => isHan(text) ? [...text.replace(/\s/gu, '')].length / 1.7 : text.split(' ').length;
export const key = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
/** From 0 to 1, the same in every run. */
export const drawn = (text, salt) => createHash('md5').update(`${salt}\n${text}`).digest().readUInt32LE(0) / 2 ** 32;

export const inDrawnOrder = (items, name, salt) =>
  items.map((item) => [drawn(name(item), salt), item]).sort(([p], [q]) => p - q).map(([, item]) => item);

/** Why a pair is of no use, or '' if it is good. */
export function flaw([a, b], mostWords) {
  const letters = (text) => (text.match(/\p{L}/gu) ?? []).length;
  const [wordsA, wordsB] = [length(a), length(b)];
  if (letters(a) < 2 || letters(b) < 2) return 'empty';
  if (key(a) === key(b)) return 'identical';
  if (Math.max(wordsA, wordsB) > mostWords) return 'long';
  if (Math.max(wordsA, wordsB) > 1.7 * Math.min(wordsA, wordsB) + 2) return 'unequal';
  if (letters(a) < 0.6 * a.replace(/\s/gu, '').length && !isHan(a)) return 'not prose';
  if (/[<>{}\\|=_]|\w\(|\(\)|::|->|https?:|\S\.\w+\(/u.test(a + b)) return 'code';
  const digits = (text) => (text.match(/\d+/gu) ?? []).sort().join(' ');
  if (digits(a) !== digits(b) && !isHan(a + b)) return 'numbers';
  return '';
}

export function clean(pairs, seen, mostWords) {
  const good = [], flaws = {};
  const own = new Set();
  for (const [a, b] of pairs) {
    const pair = [tidy(a), tidy(b)];
    const isKnown = pair.some((side) => seen.has(key(side))) || own.has(pair.map(key).join('\t'));
    const why = isKnown ? 'known' : flaw(pair, mostWords);
    if (why) {
      flaws[why] = (flaws[why] ?? 0) + 1;
    } else {
      own.add(pair.map(key).join('\t'));
      good.push(pair);
    }
  }
  for (const pair of good) for (const side of pair) seen.add(key(side));
  return { good, flaws };
}

/** Whatever shares a side stays in one part. */
export function cut(pairs, { valid, test }) {
  const parts = { valid: [], test: [], train: [] };
  const part = new Map();
  for (const pair of inDrawnOrder(pairs, ([a]) => key(a), 'part')) {
    const sides = pair.map((side, i) => `${i}${key(side)}`);
    const fixed = sides.map((side) => part.get(side)).find(Boolean);
    const next = parts.valid.length < valid ? 'valid' : 'train';
    const name = fixed ?? (parts.test.length < test ? 'test' : next);
    if (sides.some((side) => part.has(side) && part.get(side) !== name)) continue;
    for (const side of sides) part.set(side, name);
    parts[name].push(pair);
  }
  return parts;
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      output: { type: 'string' }, kept: { type: 'string', multiple: true, default: [] },
      valid: { type: 'string', default: '60' }, test: { type: 'string', default: '60' },
      'most-words': { type: 'string', default: '60' },
    },
  });
  if (!values.output || positionals.length === 0)
    throw new Error('usage: corpus.mjs --output DIR [--kept FILE]... NAME=FILE[:MOST]...');
  const seen = new Set(values.kept.flatMap(readPairs).flat().map((side) => key(tidy(side))));
  const all = { train: [], valid: [], test: [] };
  for (const corpus of positionals) {
    const [, name, file, most] = /^([^=]+)=(.*?)(?::(\d+))?$/.exec(corpus) ?? [];
    if (!name) throw new Error(`'${corpus}' is not NAME=FILE or NAME=FILE:MOST`);
    const { good, flaws } = clean(readPairs(file), seen, Number(values['most-words']));
    const parts = cut(good, { valid: Number(values.valid), test: Number(values.test) });
    parts.train = parts.train.slice(0, most ? Number(most) : undefined);
    console.log(`${name}: ${good.length} good, ${parts.train.length} to train on; left out ${JSON.stringify(flaws)}`);
    for (const part of Object.keys(all)) for (const pair of parts[part]) all[part].push(pair);
  }
  mkdirSync(values.output, { recursive: true });
  for (const [part, pairs] of Object.entries(all)) {
    const lines = inDrawnOrder(pairs.map((pair) => pair.join('\t')), (line) => line, 'order');
    writeFileSync(join(values.output, `${part}.tsv`), lines.map((line) => `${line}\n`).join(''));
    console.log(`${part}: ${pairs.length} pairs`);
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main();
