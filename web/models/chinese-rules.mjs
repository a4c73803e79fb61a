// Rules for `wasmformer tokenizer --normalization`: NFKC, traditional Chinese characters as simplified ones, so that a
// model reads both scripts, and one way to write quotation marks. Needs OpenCC (the package opencc of Debian):
//   node web/models/chinese-rules.mjs > rules.tsv
import { execFileSync } from 'node:child_process';

const codes = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
const isAssigned = (char) => !/^[\p{Cn}\p{Co}\p{Cs}]$/u.test(char);
const all = codes(0x20, 0x2fa20).map((code) => String.fromCodePoint(code)).filter(isAssigned);
const han = all.filter((char) => /^\p{Script=Han}$/u.test(char));
const simple = execFileSync('opencc', ['-c', 't2s'], { input: han.join('\n'), encoding: 'utf8' }).split('\n');
const simplified = new Map(han.map((char, i) => [char, simple[i]]));
const simplify = (text) => [...text].map((char) => simplified.get(char) ?? char).join('');

const rules = new Map();
for (const char of all) {
  let to = simplify(simplify(char).normalize('NFKC'));
  if (/^[“”„‟«»「」『』]$/u.test(char)) to = '"';
  if (/^[‘’‚‛`´]$/u.test(char)) to = "'";
  if (/^[\p{Cc}\p{Cf}]$/u.test(char)) to = '';
  if (/^\s$/u.test(char)) to = ' ';
  if (to !== char) rules.set(char, to);
  const parts = char.normalize('NFD'); // a letter and its accents
  if ([...parts].length > 1 && parts.normalize('NFKC') === char && !/^\p{Script=Hangul}$/u.test(char)) rules.set(parts, char);
}
const hex = (text) => [...text].map((char) => char.codePointAt(0).toString(16).toUpperCase()).join(' ');
process.stdout.write([...rules].map(([from, to]) => `${hex(from)}\t${hex(to)}\n`).join(''));
