// Picks short sentences that are probably common, to repeat in training, from a TSV file of English and another language:
//   node web/models/common.mjs short.tsv > core.tsv
// A sentence of the other language is picked if it has at least two English translations and at most three words (five
// in a question), or at least three translations and at most six words. In Chinese: at most four characters, or at least
// two translations and at most eight characters. Case and punctuation do not count.
import { pathToFileURL } from 'node:url';
import { readPairs } from './corpus.mjs';

const letters = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}_]+/gu, '');

export function common(pairs) {
  const translations = new Map();
  for (const [english, other] of pairs) {
    const key = letters(other);
    translations.set(key, (translations.get(key) ?? new Set()).add(letters(english)));
  }
  return pairs.filter(([, other]) => {
    const ways = translations.get(letters(other)).size;
    if (/\p{Script=Han}/u.test(other)) return [...letters(other)].length <= (ways > 1 ? 8 : 4);
    const words = (other.match(/[\p{L}\p{N}_]+/gu) ?? []).length;
    const most = other.endsWith('?') ? 5 : 3;
    return ways > 1 && words <= (ways > 2 ? 6 : most);
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const pair of common(readPairs(process.argv[2]))) console.log(pair.join('\t'));
}
