// Keeps machine-translated pairs whose translation, translated back, has most of the original's words:
//   paste pairs.tsv back.txt | node web/models/faithful.mjs [--least 0.62] > faithful.tsv
// A line has a sentence, its translation, and that translated back; --least is the lowest word F1 to accept.
// Translations in which one to four characters occur three times in a row, such as 000, are left out.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { least: { type: 'string', default: '0.62' } } });
const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

function shared(a, b) {
  const left = [...b];
  return a.filter((word) => left.includes(word) && left.splice(left.indexOf(word), 1)).length;
}

for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const [sentence, translation, back = ''] = line.split('\t');
  const [a, b] = [words(sentence), words(back)];
  const isRepeating = /(.{1,4})\1\1/u.test(translation);
  if (!isRepeating && 2 * shared(a, b) >= Number(values.least) * (a.length + b.length)) console.log(`${sentence}\t${translation}`);
}
