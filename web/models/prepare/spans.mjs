// Sentence pairs with placeholders for kept spans: <n1> to <n8> for numbers, <w1> to <w8> for what stands like a word
// (addresses, paths, code), <s1> to <s8> for signs. A model learns from them to carry such a token to its place.
export const spanTokens = ['n', 'w', 's'].flatMap((kind) => Array.from({ length: 8 }, (_, i) => `<${kind}${i + 1}>`));

const unit = '(?:\\s?(?:%|°C?|€|\\$|£|¥|km/h|[kcm]?m|k?g|m?l|[kMGT]B|[kMG]?Hz|k?W|V)(?![\\p{L}\\p{N}]))?';
const digits = '[€$£¥]?[+−-]?\\d+(?:[.,:/-]\\d+)*';
const number = new RegExp(`(?<![\\p{L}\\p{N}/-])${digits}${unit}(?![\\p{L}\\p{N}])`, 'gu');
const code = [
  /https?:\/\/[^\s"'<>()]*[^\s"'<>().,:;!?]/gu, /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu, /(?:~|\.{1,2})?(?:\/[\w.-]+)+\/?/gu,
  /%\d*\$?[sdiu](?!\p{L})|%[1-9](?!\d)|\{\w*\}|\$\w+\$?|%[A-Z]{3,}/gu, /--?[a-z][\w-]+(?![\p{L}])/gu,
  /\b\w+(?:[.:]{1,2}\w+)*\(\)/gu, /\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b/gu, /\b[A-Za-z]+(?:\.[A-Za-z]+)+\b/gu,
  /\b(?:[a-z]+[A-Z]\w*|[A-Z]{2,}\d+\w*)\b/gu,
];
const name = /(?<![\p{L}\p{N}<-])\p{Lu}[\p{Ll}]{2,}(?![\p{L}\p{N}-])/gu;
const chineseNames = [
  ['Tom', '汤姆'], ['Mary', '玛丽'], ['John', '约翰'], ['Boston', '波士顿'], ['Jim', '吉姆'], ['Bob', '鲍勃'],
];

const found = (text, pattern) => [...text.matchAll(pattern)].map(([match]) => match);
const times = (text, part) => text.split(part).length - 1;
/** One form of a number for all languages: 1.234,5 and 1,234.5 are the same. */
const plainNumber = (text) => text.replace(/[^\p{L}\p{N}%€$£¥°]/gu, '').replace(/^([€$£¥])(.*)$/u, '$2$1');

/** What stands once on each side, as [on the English side, on the other, kind]. */
export function candidates([english, other]) {
  const all = [];
  const overlap = (text, one, two) => {
    const [first, second] = [one, two].sort((p, q) => text.indexOf(p) - text.indexOf(q));
    return text.indexOf(first) + first.length > text.indexOf(second);
  };
  const add = (a, b, kind) => {
    if (times(english, a) !== 1 || times(other, b) !== 1) return;
    const isFree = all.every(([one, two]) => !overlap(english, one, a) && !overlap(other, two, b));
    if (isFree) all.push([a, b, kind]);
  };
  // A match is also one on the other side, not a part of a longer word there.
  const addCommon = (pattern) => {
    const others = found(other, pattern);
    for (const match of found(english, pattern)) if (others.includes(match)) add(match, match, 'w');
  };
  code.forEach(addCommon);
  const numbers = found(other, number);
  for (const match of found(english, number)) {
    const same = numbers.filter((one) => plainNumber(one) === plainNumber(match));
    if (same.length === 1) add(match, same[0], 'n');
  }
  addCommon(name);
  for (const [a, b] of chineseNames) add(a, b, 'w');
  return all;
}

export const hasCode = ([english, other]) =>
  code.some((pattern) => found(english, pattern).some((match) => times(other, match) === 1));

/** Hands out tokens in random order, none twice. */
function tokens({ range }) {
  const left = new Map();
  return (kind) => {
    if (!left.has(kind)) left.set(kind, Array.from({ length: 8 }, (_, i) => i + 1));
    const numbers = left.get(kind);
    if (numbers.length === 0) return undefined;
    return `<${kind}${numbers.splice(range(0, numbers.length - 1), 1)[0]}>`;
  };
}

const isHan = (char) => /[\p{Script=Han}，。！？：；、“”]/u.test(char ?? '');
/** The text with parts of it, each of which stands there once, replaced: [part, by]. */
function replaced(text, parts) {
  let result = '', end = 0;
  for (const [part, by] of parts.toSorted(([p], [q]) => text.indexOf(p) - text.indexOf(q))) {
    result += text.slice(end, text.indexOf(part)) + by;
    end = text.indexOf(part) + part.length;
  }
  return result + text.slice(end);
}
/** Chinese has no spaces around a token. */
function glued(...parts) {
  return parts.filter(Boolean).reduce((text, part) =>
    text + (isHan(text.at(-1)) || isHan(part[0]) || /^[.,!?:;)]/u.test(part) ? '' : ' ') + part);
}

/** Marks such as ** touch what they enclose; others stand beside it. One way for both sides of a pair. */
const enclosing = (draw) => draw.random() < 0.7 ? (first, text, last) => first + text + last : glued;

const clauseMarks = /[,;:，；：、](?!\d)/gu;
/** Both sides cut after a mark, if they have equally many. */
function cutAtMark(pair, draw) {
  const marks = pair.map((text) => [...text.matchAll(clauseMarks)].map(({ index }) => index + 1));
  if (marks[0].length !== marks[1].length || marks[0].length === 0) return undefined;
  const which = draw.range(0, marks[0].length - 1);
  return pair.map((text, i) => [text.slice(0, marks[i][which]), text.slice(marks[i][which]).trim()]);
}

const endMark = /[.!?。！？]$/u;
/** Signs around both sides, before or after them, or after a mark within. */
const placements = {
  before(pair, next) {
    const sign = next();
    return pair.map((text) => glued(sign, text));
  },
  after(pair, next) {
    const sign = next();
    return pair.map((text) => glued(text, sign));
  },
  around(pair, next, draw) {
    const [first, last] = [next(), next()];
    const enclosed = enclosing(draw);
    return pair.map((text) => enclosed(first, text, last));
  },
  // As in **text**.
  beforeEnd(pair, next, draw) {
    if (!pair.every((text) => endMark.test(text))) return this.around(pair, next, draw);
    const [first, last] = [next(), next()];
    const enclosed = enclosing(draw);
    return pair.map((text) => enclosed(first, text.slice(0, -1), last) + text.at(-1));
  },
  within(pair, next, draw) {
    const parts = cutAtMark(pair, draw);
    if (!parts) return this.after(pair, next);
    const sign = next();
    return parts.map(([first, rest]) => glued(first, sign, rest));
  },
};

function withSigns(pair, token, draw, count) {
  let signed = pair;
  for (let i = 0; i < count; ++i) {
    const kind = draw.any(['before', 'after', 'around', 'beforeEnd', 'within', 'within']);
    signed = placements[kind](signed, () => token('s'), draw);
  }
  return signed;
}

const isWordThere = (text, word) => {
  const letters = /[\p{Script=Latin}\p{N}-]/u, at = text.indexOf(word);
  return times(text, word) === 1 && !letters.test(text[at - 1] ?? '') && !letters.test(text[at + word.length] ?? '');
};

/** Words that translate each other, by a dictionary, each of which stands once in its side. */
const alignedWords = (pair, dictionary) => found(pair[0], /\p{L}+/gu)
  .map((word) => [word, dictionary.get(word)])
  .filter(([, other]) => other)
  .filter((words) => words.every((word, side) => isWordThere(pair[side], word)));

/** A pair with signs around one word, as in **word**, or with one sign before it; undefined without such a word. */
export function withMarkedWord(pair, draw, dictionary) {
  const words = alignedWords(pair, dictionary);
  if (words.length === 0) return undefined;
  const chosen = draw.any(words), token = tokens(draw);
  const isEnclosed = draw.random() < 0.8;
  const enclosed = isEnclosed ? enclosing(draw) : glued;
  const signs = [token('s'), isEnclosed ? token('s') : undefined];
  return pair.map((text, side) => replaced(text, [[chosen[side], enclosed(signs[0], chosen[side], signs[1])]]));
}

/**
 * A pair with placeholders, the same ones on both sides, for a share of what can be kept, and for so many signs;
 * undefined if that is nothing.
 */
export function withSpans(pair, draw, signs = 0, share = 0.8) {
  const token = tokens(draw);
  const all = candidates(pair);
  if (all.length === 0 && signs === 0) return undefined;
  const kept = all.filter(() => draw.random() < share).slice(0, 8);
  if (kept.length === 0 && signs === 0) kept.push(all[0]);
  const parts = kept.map(([a, b, kind]) => {
    const marks = kind === 'w' && draw.random() < 0.15 ? [token('s'), token('s')] : [];
    // Some words stay, between signs, as in **Tom**.
    const staysPlain = marks.length > 0 && draw.random() < 0.5;
    const own = staysPlain ? undefined : token(kind);
    const enclosed = marks.length > 0 ? enclosing(draw) : glued;
    return [a, b].map((part) => [part, enclosed(marks[0], own ?? part, marks[1])]);
  });
  const result = pair.map((text, side) => replaced(text, parts.map((part) => part[side])));
  return withSigns(result, token, draw, signs);
}

/** The placeholders of a text, in alphabetical order. */
export const spansIn = (text) => (text.match(/<[nws][1-8]>/gu) ?? []).sort();
