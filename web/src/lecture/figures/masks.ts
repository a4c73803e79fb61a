// Padding and the future: what a row of attention becomes with each way of masking.
import { attention, product, softmax } from './matrix';
import { input, ofHead, weightsOf } from './projections';

/** Number that a 32-bit implementation adds to the score of a padded key. */
export const VERY_NEGATIVE = -(2 ** 32) + 1;
export const WAYS = ['none', 'zero', 'negative'] as const;
export type Way = (typeof WAYS)[number];

/** Scores of one query with the keys of a short sentence, which padding makes as long as the longer one. */
export const SCORES = [0.5, 0, 1.5, -1, -0.4] as const;
/** Words of the short sentence; the rest is padding. */
export const REAL = 3;

/** The row's scores as softmax gets them. */
export function masked(way: Way): number[] {
  return SCORES.map((score, key) => {
    if (key < REAL || way === 'none') return score;
    return way === 'zero' ? 0 : score + VERY_NEGATIVE;
  });
}

export const weightsWith = (way: Way) => softmax(masked(way));
/** Attention that falls on words which are not there. */
export const lost = (way: Way) => weightsWith(way).slice(REAL).reduce((sum, weight) => sum + weight, 0);

/** Attention of the first `written` tokens to each other, one head, with the future mask or without: written × written. */
export function decoderWeights(written: number, isMasked: boolean): number[][] {
  const x = input().slice(0, written);
  const [q, k, v] = (['q', 'k', 'v'] as const).map((role) => ofHead(product(x, weightsOf(role)), 0));
  return attention(q, k, v, (query, key) => !isMasked || key <= query).weights;
}

/** Largest change of a weight in the rows of earlier words by the last word that was written. */
export function changed(written: number, isMasked: boolean): number {
  const before = decoderWeights(written - 1, isMasked);
  const now = decoderWeights(written, isMasked);
  const changes = before.flatMap((row, query) => row.map((weight, key) => Math.abs(weight - now[query][key])));
  return Math.max(...changes);
}
