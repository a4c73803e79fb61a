// The arithmetic of one cell of attention, done again from the model's own queries, keys and values.
import type { AttentionInternals, LayerInternals, Matrix, StackInternals } from 'wasmformer';

export interface Arithmetic {
  query: Float32Array; // d_k numbers
  key: Float32Array;
  products: Float32Array; // query times key, number by number
  dot: number; // their sum
  scores: number[]; // q·k, over √d_k where it is scaled
  exponentials: number[]; // e^(score − the greatest score)
  weights: number[]; // those over their sum
  weighted: Matrix; // each column's value times its weight: [columns, d_k]
  output: Float32Array; // the sum of the rows of `weighted`
}

/** The columns of a head in a row. */
function part(rows: Matrix, row: number, head: number, size: number): Float32Array {
  return rows.data.subarray(row * rows.columns + head * size, row * rows.columns + (head + 1) * size);
}

/** Other kinds put weights between query and key that the page does not have. */
export const canScore = (attention: string | undefined) => attention === 'scaled_dot' || attention === 'dot';

/** The scores of a row for every column; -Infinity where the mask is. */
export function scoresOf(
  { queries, keys }: AttentionInternals,
  heads: number,
  head: number,
  row: number,
  visible: number,
  scaled: boolean,
): number[] {
  const size = queries.columns / heads;
  const query = part(queries, row, head, size);
  return Array.from({ length: keys.rows }, (_, c) =>
    c < visible ? dot(query, part(keys, c, head, size)) / (scaled ? Math.sqrt(size) : 1) : -Infinity,
  );
}

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** `visible` columns can be seen from the row: all, or in the decoder's self-attention those up to the row. */
export function arithmetic(
  internals: AttentionInternals,
  heads: number,
  head: number,
  row: number,
  column: number,
  visible: number,
  scaled = true,
): Arithmetic {
  const { queries, keys, values } = internals;
  const size = queries.columns / heads;
  const query = part(queries, row, head, size);
  const key = part(keys, column, head, size);
  const scores = scoresOf(internals, heads, head, row, visible, scaled);
  const greatest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - greatest));
  const sum = exponentials.reduce((a, b) => a + b);
  const weights = exponentials.map((e) => e / sum);
  const width = values.columns / heads; // keys may have another
  const weighted = { data: new Float32Array(keys.rows * width), rows: keys.rows, columns: width };
  const output = new Float32Array(width);
  weights.forEach((weight, c) =>
    part(values, c, head, width).forEach((value, i) => {
      weighted.data[c * width + i] = weight * value;
      output[i] += weight * value;
    }),
  );
  return {
    query,
    key,
    products: query.map((q, i) => q * key[i]),
    dot: dot(query, key),
    scores,
    exponentials,
    weights,
    weighted,
    output,
  };
}

/** The length of each row's vector. */
export function norms({ data, rows, columns }: Matrix): number[] {
  return Array.from({ length: rows }, (_, r) =>
    Math.sqrt(data.subarray(r * columns, (r + 1) * columns).reduce((sum, x) => sum + x * x, 0)),
  );
}

export type Stage = 'input' | 'self' | 'cross' | 'feedForward';

/** Input of the first layer of a stack: the sum of embeddings and positions. */
export function stackInput({ tokenEmbedding, positions }: StackInternals): Matrix {
  return { ...tokenEmbedding, data: tokenEmbedding.data.map((x, i) => x + positions.data[i]) };
}

/** The residual stream's places in a stack, in order, each with the norm of every row. */
export function residual(stack: StackInternals): { layer: number; stage: Stage; norms: number[] }[] {
  const stagesOf = (layer: LayerInternals, index: number) => [
    { layer: index, stage: 'self' as const, norms: norms(layer.afterSelfAttention) },
    ...(layer.afterCrossAttention
      ? [{ layer: index, stage: 'cross' as const, norms: norms(layer.afterCrossAttention) }]
      : []),
    { layer: index, stage: 'feedForward' as const, norms: norms(layer.afterFeedForward) },
  ];
  return [{ layer: -1, stage: 'input' as const, norms: norms(stackInput(stack)) }, ...stack.layers.flatMap(stagesOf)];
}
