// What TensorFlow.js and jax-js train: the model of data.mjs on the sentences of bench.cpp, each to be copied.
import { bos, positions, sentences, transpose, weights } from '../data.mjs';

/** Weights of linear layers are [inputs, outputs], as these libraries like them. */
export function transposedWeights(shape) {
  return [...weights(shape)].map(([name, { shape: [rows, cols], data }]) => {
    if (cols === undefined) return [name, { shape: [rows], data }];
    if (name === 'model.shared.weight' || rows === 1) return [name, { shape: [rows, cols], data }];
    return [name, { shape: [cols, rows], data: transpose(data, rows, cols) }];
  });
}

export function trainingData(shape) {
  const { tokens, pairs } = shape;
  const source = sentences(shape, pairs, false);
  return {
    source,
    input: source.map((_, i) => (i % tokens === 0 ? bos : source[i - 1])),
    positions: positions(shape, tokens),
    causal: Float32Array.from({ length: tokens * tokens }, (_, i) => (i % tokens > Math.floor(i / tokens) ? -1e9 : 0)),
  };
}
