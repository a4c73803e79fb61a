// Keeps the pairs with relatively long translations, so that a model trained on them omits less:
//   node web/models/longest.mjs pairs.tsv [--drop 0.4] > longest.tsv
// A line has English, a tab, and its translation. Among sentences with about as many English words, drops the fraction
// --drop with the fewest characters of translation per character of English.
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { readPairs } from './corpus.mjs';

const ratio = ([english, translation]) => [...translation].length / [...english].length;

/** By number of English words: exactly below 12, in steps of four up to 43, all longer sentences together. */
function group([english]) {
  const words = english.split(/\s+/).filter(Boolean).length;
  if (words < 12) return words;
  return words < 44 ? 12 + Math.floor((words - 12) / 4) : 20;
}

export function longest(pairs, drop) {
  const ratios = new Map();
  for (const pair of pairs) ratios.set(group(pair), [...ratios.get(group(pair)) ?? [], ratio(pair)]);
  const leastOf = (list) => list.sort((a, b) => a - b)[Math.floor(list.length * drop)];
  const least = new Map([...ratios].map(([key, list]) => [key, leastOf(list)]));
  return pairs.filter((pair) => ratio(pair) >= least.get(group(pair)));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const options = { drop: { type: 'string', default: '0.4' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  for (const pair of longest(readPairs(positionals[0]), Number(values.drop))) console.log(pair.join('\t'));
}
