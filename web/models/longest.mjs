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
  return words < 12 ? words : words < 44 ? 12 + Math.floor((words - 12) / 4) : 20;
}

export function longest(pairs, drop) {
  const ratios = new Map();
  for (const pair of pairs) ratios.set(group(pair), [...ratios.get(group(pair)) ?? [], ratio(pair)]);
  const least = new Map([...ratios].map(([key, list]) => [key, list.sort((a, b) => a - b)[Math.floor(list.length * drop)]]));
  return pairs.filter((pair) => ratio(pair) >= least.get(group(pair)));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values, positionals } = parseArgs({ options: { drop: { type: 'string', default: '0.4' } }, allowPositionals: true });
  for (const pair of longest(readPairs(positionals[0]), Number(values.drop))) console.log(pair.join('\t'));
}
