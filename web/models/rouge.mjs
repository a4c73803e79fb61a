// ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) of titles or summaries, as F1 in percent, averaged over the lines:
//   node web/models/rouge.mjs references.txt < found.txt
// One text per line; several references for a line are separated by " ||| ", and the best one counts. Words are lower-case
// runs of a-z and 0-9, without stemming; Chinese is counted by character.
import { readFileSync } from 'node:fs';

const linesOf = (text) => text.replace(/\n$/, '').split('\n');
const words = (text) => text.toLowerCase().match(/[a-z0-9]+|\p{Script=Han}/gu) ?? [];
const f1 = (shared, expected, found) => (shared ? (2 * shared) / (expected + found) : 0);

function overlap(expected, found, n) {
  const grams = (tokens) => tokens.slice(n - 1).map((_, i) => tokens.slice(i, i + n).join(' '));
  const left = new Map();
  for (const gram of grams(expected)) left.set(gram, (left.get(gram) ?? 0) + 1);
  let shared = 0;
  for (const gram of grams(found)) {
    if (!left.get(gram)) continue;
    left.set(gram, left.get(gram) - 1);
    shared++;
  }
  return f1(shared, Math.max(0, expected.length - n + 1), Math.max(0, found.length - n + 1));
}

function longestCommon(expected, found) {
  let row = new Array(found.length + 1).fill(0);
  for (const word of expected) {
    const next = [0];
    found.forEach((other, j) => next.push(word === other ? row[j] + 1 : Math.max(row[j + 1], next[j])));
    row = next;
  }
  return f1(row.at(-1), expected.length, found.length);
}

const scores = { 'ROUGE-1': (a, b) => overlap(a, b, 1), 'ROUGE-2': (a, b) => overlap(a, b, 2), 'ROUGE-L': longestCommon };
const references = linesOf(readFileSync(process.argv[2], 'utf8'));
const found = linesOf(readFileSync(0, 'utf8'));
if (references.length !== found.length) throw new Error(`expected ${references.length} lines, but got ${found.length}`);
for (const [name, score] of Object.entries(scores)) {
  const best = references.map((line, i) => Math.max(...line.split(' ||| ').map((text) => score(words(text), words(found[i])))));
  console.log(`${name} ${((100 * best.reduce((sum, value) => sum + value, 0)) / best.length).toFixed(1)}`);
}
