// Keeps the pairs with relatively long translations, so that a model trained on them omits less:
//   node tests/bench/longest.mjs pairs.tsv [--drop 0.4] > longest.tsv
// A line has English, a tab, and its translation. Among sentences with about as many English words, drops the fraction
// --drop with the fewest characters of translation per character of English.
import { parseArgs } from 'node:util';
import { readPairs } from './corpus.mjs';

const { values, positionals } = parseArgs({ options: { drop: { type: 'string', default: '0.4' } }, allowPositionals: true });
const pairs = readPairs(positionals[0]);
const ratio = ([english, translation]) => [...translation].length / [...english].length;

/** By number of English words: exactly below 12, in steps of four up to 43, all longer sentences together. */
function group([english]) {
  const words = english.split(/\s+/).filter(Boolean).length;
  return words < 12 ? words : words < 44 ? 12 + Math.floor((words - 12) / 4) : 20;
}

const ratios = new Map();
for (const pair of pairs) {
  if (!ratios.has(group(pair))) ratios.set(group(pair), []);
  ratios.get(group(pair)).push(ratio(pair));
}
const least = new Map([...ratios].map(([key, list]) =>
  [key, list.sort((a, b) => a - b)[Math.floor(list.length * Number(values.drop))]]));
for (const pair of pairs) if (ratio(pair) >= least.get(group(pair))) console.log(pair.join('\t'));
