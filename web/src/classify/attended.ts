// Tokens that the input of the classifier attends to.
import { rowOf, type AttentionMap } from '../shared/attention/attention';

/** Encoder outputs that the labels of a text are read from; null if it has no labels. */
export type Pooling = 'first' | 'mean' | null;

/** For each token: how much the token in `row` attends to it, or else, with no such row, what the label is read from. */
export function attendedTo(map: AttentionMap, row: number | null, pooling: Pooling): number[] {
  if (row !== null) return [...rowOf(map, row)];
  if (pooling === null) return [];
  return pooling === 'first' ? [...rowOf(map, 0)] : meanOfRows(map);
}

function meanOfRows({ data, rows, columns }: AttentionMap): number[] {
  return Array.from({ length: columns }, (_, column) => {
    let sum = 0;
    for (let row = 0; row < rows; ++row) sum += data[row * columns + column];
    return sum / rows;
  });
}
