// The sentences that people say most, from a TSV file of English and another language, for pairs to repeat in training:
//   node tests/bench/common.mjs short.tsv > core.tsv
// A sentence of the other language is common if the corpus gives it two English translations and it has at most three
// words (five in a question), or three translations and at most six words. In Chinese: at most four characters, or two
// translations and at most eight. Case and punctuation do not count.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

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
    return ways > 1 && words <= (ways > 2 ? 6 : other.endsWith('?') ? 5 : 3);
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const pairs = readFileSync(process.argv[2], 'utf8').trimEnd().split('\n').map((line) => line.split('\t').slice(0, 2));
  for (const pair of common(pairs)) console.log(pair.join('\t'));
}
