// Attention without positions does not see order: what comes out for a token when two words change places.
import { attention, product, rootMeanSquare, type Matrix } from './matrix';
import { positions } from './positions';
import { normalMatrix } from './random';

const WIDTH = 16;
const SEED = 276;
/** Matrices of queries, keys and values. */
const PROJECTIONS = [1, 2, 3].map((i) => normalMatrix(WIDTH, WIDTH, 1 / Math.sqrt(WIDTH), SEED + i));

/** A row of numbers for each word; the same word has the same row. */
export function embed(words: readonly string[], withPositions: boolean): number[][] {
  const known = [...new Set(words)].sort();
  const table = normalMatrix(known.length, WIDTH, 1, SEED);
  const places = positions(words.length, WIDTH);
  return words.map((word, at) =>
    table[known.indexOf(word)].map((value, i) => value + (withPositions ? places[at][i] : 0)),
  );
}

/** Outputs of attention of every token to every token. */
export function attended(x: Matrix): number[][] {
  const [q, k, v] = PROJECTIONS.map((matrix) => product(x, matrix));
  return attention(q, k, v).output;
}

export interface Swapped {
  word: string;
  /** Usual difference of the word's output before and after, over all its numbers. */
  difference: number;
}

/** How much the output of each word changes when the words at `a` and `b` change places. */
export function swap(words: readonly string[], a: number, b: number, withPositions: boolean): Swapped[] {
  const order = words.map((_, at) => ({ [a]: b, [b]: a })[at] ?? at);
  const before = attended(embed(words, withPositions));
  const after = attended(embed(order.map((at) => words[at]), withPositions));
  return words.map((word, at) => {
    const now = after[order.indexOf(at)];
    return { word, difference: rootMeanSquare(before[at].map((value, i) => value - now[i])) };
  });
}
