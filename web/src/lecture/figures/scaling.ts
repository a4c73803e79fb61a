// Section 3.2.1: what √d_k does to a row of scores.
import { dot, softmax } from './matrix';
import { normalMatrix } from './random';

export const KEYS = 8;
const SEED = 29;

/**
 * Scores of one query with eight keys, whose numbers have mean 0 and variance 1: the first d_k numbers of the same
 * rows. The best key comes first, so that a row of another width has the same ranking.
 */
export function scores(dk: number): number[] {
  const [query, ...keys] = normalMatrix(KEYS + 1, 512, 1, SEED).map((row) => row.slice(0, dk));
  return keys.map((key) => dot(query, key)).sort((a, b) => b - a);
}

/** Pairs of a query and a key that the variance is taken over. */
export const PAIRS = 400;

/** Variance of q·k over many pairs of rows of width `dk`. */
export function variance(dk: number, pairs = PAIRS): number {
  const rows = normalMatrix(2 * pairs, dk, 1, SEED + dk);
  const products = Array.from({ length: pairs }, (_, i) => dot(rows[2 * i], rows[2 * i + 1]));
  return dot(products, products) / pairs;
}

export interface Row {
  scores: number[];
  weights: number[];
  /** Derivative of each weight by its own score, w(1 - w). */
  slopes: number[];
}

export function rowOf(dk: number, isScaled: boolean): Row {
  const all = scores(dk).map((score) => (isScaled ? score / Math.sqrt(dk) : score));
  const weights = softmax(all);
  return { scores: all, weights, slopes: weights.map((weight) => weight * (1 - weight)) };
}
