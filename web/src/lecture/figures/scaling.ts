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

export interface Row {
  scores: number[];
  weights: number[];
}

export function rowOf(dk: number, isScaled: boolean): Row {
  const all = scores(dk).map((score) => (isScaled ? score / Math.sqrt(dk) : score));
  return { scores: all, weights: softmax(all) };
}

/** Derivative of each weight by its own score, w(1 - w). */
export const slopesOf = (weights: readonly number[]) => weights.map((weight) => weight * (1 - weight));

/** Rows of eight random scores that the means are taken over. */
export const ROWS = 100;

/** Over many rows: the variance of a score, and the mean of the sum of w(1 - w) in a row. */
export function averages(dk: number, isScaled: boolean): { variance: number; slope: number } {
  const vectors = normalMatrix(ROWS * (KEYS + 1), dk, 1, SEED + dk);
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const [query, ...keys] = vectors.slice(i * (KEYS + 1), (i + 1) * (KEYS + 1));
    return keys.map((key) => dot(query, key) / (isScaled ? Math.sqrt(dk) : 1));
  });
  const all = rows.flat();
  const slopes = rows.flatMap((row) => slopesOf(softmax(row)));
  return { variance: dot(all, all) / all.length, slope: slopes.reduce((sum, one) => sum + one, 0) / ROWS };
}
