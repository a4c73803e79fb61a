// The few operations on matrices that the figures need; a matrix is a list of rows.
export type Matrix = readonly (readonly number[])[];

export const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, i) => sum + value * b[i], 0);

export const transposed = (matrix: Matrix): number[][] =>
  matrix[0].map((_, column) => matrix.map((row) => row[column]));

/** Product of an n × k and a k × m matrix. */
export function product(left: Matrix, right: Matrix): number[][] {
  const columns = transposed(right);
  return left.map((row) => columns.map((column) => dot(row, column)));
}

/** Columns `from` to `to` of a matrix, without `to`. */
export const columnsOf = (matrix: Matrix, from: number, to: number) => matrix.map((row) => row.slice(from, to));

/** Softmax of scores; a score of -Infinity gets the weight 0. */
export function softmax(scores: readonly number[]): number[] {
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

export interface Attention {
  weights: number[][]; // queries × keys
  output: number[][]; // queries × width of the values
}

/** Equation 1; `sees` says which keys a query may read. */
export function attention(
  q: Matrix,
  k: Matrix,
  v: Matrix,
  sees: (query: number, key: number) => boolean = () => true,
): Attention {
  const scale = 1 / Math.sqrt(q[0].length);
  const weights = product(q, transposed(k)).map((row, query) =>
    softmax(row.map((score, key) => (sees(query, key) ? score * scale : -Infinity))),
  );
  return { weights, output: product(weights, v) };
}

/** Root of the mean square: the usual size of a number of the matrix. */
export function rootMeanSquare(values: readonly number[]): number {
  return Math.sqrt(dot(values, values) / values.length);
}
