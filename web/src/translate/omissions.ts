// Words of the source that a translation may have left out: hardly any of its tokens attended to them.

import { END_PIECE, segments, startsWord, surface, type Maps } from '../shared/attention/attention';

type Tokens = readonly { piece: string }[];
type Read = { source: string; sourceTokens: Tokens; targetTokens: Tokens; attention: { cross: Maps } };

/**
 * A word is left out if each of its tokens has less than this, in the mean of the heads: from any token of the
 * translation, and from all of them together. In right translations even articles have more; words that a forced
 * translation leaves out often have less.
 */
const [LEAST_ONCE, LEAST_TOGETHER] = [0.13, 0.4];
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const WITHOUT_SPACES = /^\p{Script=Han}/u;

/** Attention that each source token gets from any row and from all rows, in the layers that give it most. */
function received({ layers, heads, rows, columns, data }: Maps, counted: number) {
  const once = new Float64Array(columns);
  const together = new Float64Array(columns);
  const size = rows * columns;
  for (let layer = 0; layer < layers; ++layer) {
    const sums = new Float64Array(columns);
    for (let at = 0; at < counted * columns; ++at) {
      let mean = 0;
      for (let head = 0; head < heads; ++head) mean += data[(layer * heads + head) * size + at]! / heads;
      const column = at % columns;
      once[column] = Math.max(once[column]!, mean);
      sums[column]! += mean;
    }
    sums.forEach((sum, column) => (together[column] = Math.max(together[column]!, sum)));
  }
  return { once, together };
}

/** The tokens with letters or digits, word by word. */
function wordsOf(tokens: Tokens): number[][] {
  const words: number[][] = [];
  let isWithin = false;
  tokens.forEach(({ piece }, at) => {
    const isText = piece !== END_PIECE && LETTER_OR_DIGIT.test(surface(piece));
    if (isText && isWithin && !startsWord(piece) && !WITHOUT_SPACES.test(piece)) words.at(-1)!.push(at);
    else if (isText) words.push([at]);
    isWithin = isText;
  });
  return words;
}

function find({ sourceTokens, targetTokens, attention }: Read): ReadonlySet<number> {
  const words = targetTokens.at(-1)?.piece === END_PIECE ? targetTokens.length - 1 : targetTokens.length;
  const { once, together } = received(attention.cross, words);
  const isLeftOut = (at: number) => once[at]! < LEAST_ONCE && together[at]! < LEAST_TOGETHER;
  return new Set(
    wordsOf(sourceTokens)
      .filter((word) => word.every(isLeftOut))
      .flat(),
  );
}

/** Each translation is looked at once, since every key that is typed asks again for all sentences. */
const found = new WeakMap<Read, ReadonlySet<number>>();

/** Source tokens that may be missing in a translation. */
export function omissions(shown: Read): ReadonlySet<number> {
  if (!found.has(shown)) found.set(shown, find(shown));
  return found.get(shown)!;
}

/** The source in stretches that may be missing in the translation or not. */
export function sourceStretches(shown: Read) {
  const omitted = omissions(shown);
  const pieces = shown.sourceTokens.map(({ piece }) => piece);
  const isOmitted = (token: number | null) => token !== null && omitted.has(token);
  return segments(shown.source, pieces).map(({ text, token }) => ({ text, isOmitted: isOmitted(token) }));
}
