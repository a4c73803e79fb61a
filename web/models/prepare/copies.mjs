// Changed copies of sentence pairs, both sides alike: several as one, in small letters, without final punctuation, with
// other names and numbers, in quotes or brackets, or typed in other ways.
import { cityEnds, firstEnds, inventName } from '../phrases.mjs';
import { candidates } from './spans.mjs';

const isHan = (char) => /[\p{Script=Han}，。！？]/u.test(char ?? '');
const followed = (text, next) => text + (isHan(text.at(-1)) ? '' : ' ') + next;
const endMark = /[.!?。！？]$/u;
const mostLetters = 300;

function concat(pairs, draw) {
  let joined = draw.any(pairs);
  for (let more = draw.range(1, 3); more > 0; --more) {
    const next = draw.any(pairs);
    if (joined[0].length + next[0].length > mostLetters) break;
    if (joined.every((text) => endMark.test(text))) joined = joined.map((text, i) => followed(text, next[i]));
  }
  return joined;
}

const withoutEnd = (pair) =>
  pair.every((text) => endMark.test(text)) ? pair.map((text) => text.slice(0, -1).trim()) : pair;

function lowercase(pairs, draw) {
  const pair = draw.any(pairs).map((text) => text.toLowerCase());
  return draw.random() < 0.5 ? withoutEnd(pair) : pair;
}

/** A random number with as many digits. 1 stays, because what it counts is singular. */
function otherDigits(text, draw) {
  if (text === '1') return text;
  const leadsNumber = (at) => at === 0 || !/\d/.test(text[at - 1]);
  return text.replace(/\d/g, (digit, at) => `${draw.range(leadsNumber(at) && digit !== '0' ? 1 : 0, 9)}`);
}

/** Numbers must have the same digits on both sides, so only those that are written alike get others. */
function names(pairs, draw) {
  const pair = draw.any(pairs);
  const replacements = new Map();
  for (const [one, other, kind] of candidates(pair)) {
    if (one !== other) continue;
    if (kind === 'n') replacements.set(one, otherDigits(one, draw));
    const isName = kind === 'w' && /^\p{Lu}\p{Ll}+$/u.test(one);
    if (isName) replacements.set(one, inventName(draw, draw.any([firstEnds, cityEnds])).en);
  }
  return pair.map((text) => [...replacements].reduce((result, [from, to]) => result.replace(from, to), text));
}

// What stands around a text, as the models write it, and how it may be typed instead.
const around = [
  ['"', '"', [['„', '“'], ['“', '”'], ['«', '»'], ['« ', ' »'], ['»', '«'], ['"', '"'], ['„', '”']]],
  ["'", "'", [['‚', '‘'], ['‘', '’'], ['‹', '›'], ["'", "'"]]],
  ['(', ')', [['(', ')'], ['（', '）']]],
  ['[', ']', [['[', ']']]],
];
const before = ['- ', '* ', '• ', '1. ', '2) ', 'a) ', '3. ', '– '];

/** Typed as people type: `source` is the side that is read. */
function typed(pair, source, draw) {
  const typographic = { "'": '’', '...': '…', ' - ': draw.any([' – ', ' — ', '—']) };
  return pair.map((text, side) => side !== source ? text
    : Object.entries(typographic).reduce((result, [from, to]) => result.replaceAll(from, to), text));
}

function enclosed(pair, source, draw) {
  const [open, close, variants] = draw.any(around);
  const other = draw.any(variants);
  const inner = draw.random() < 0.3 ? candidates(pair).filter(([a, b, kind]) => kind === 'w' && a === b)[0] : undefined;
  return pair.map((text, side) => {
    const [first, last] = side === source ? other : [open, close];
    return inner ? text.replace(inner[side], `${first}${inner[side]}${last}`) : first + text + last;
  });
}

function signs(pairs, draw, source) {
  const pair = draw.any(pairs);
  const mark = draw.any(before), bare = withoutEnd(pair);
  return draw.any([
    () => enclosed(pair, source, draw),
    () => enclosed(bare, source, draw),
    () => pair.map((text, side) => (side === source ? mark : mark.replace(/[•–]/u, '-')) + text),
    () => bare.map((text, side) => text + (side === source ? draw.any(['...', '…', ' ...']) : '...')),
    () => bare.map((text) => text + (isHan(text.at(-1)) ? '：' : ':')),
    () => typed(pair, source, draw),
  ])();
}

const unended = (pairs, draw) => withoutEnd(draw.any(pairs));
export const changes = { concat, lowercase, names, signs, no_final_punctuation: unended };

/** As many copies as the shares of the pairs say; those that did not change are left out. */
export function copies(pairs, shares, draw, source) {
  const known = new Set(pairs.map((pair) => pair.join('\t')));
  return Object.entries(shares).flatMap(([name, share]) => {
    const wanted = Math.round(share * pairs.length), made = [];
    for (let tries = 0; made.length < wanted && tries < 20 * wanted; ++tries) {
      const pair = changes[name](pairs, draw, source);
      const line = pair.join('\t');
      if (!known.has(line)) made.push(pair);
      known.add(line);
    }
    return made;
  });
}
