// Writes ONNX files: one matrix product, and a model of data.mjs as graphs with key/value caches. The int8 ones are
// quantised as ONNX Runtime's quantize_dynamic does it: activations at run time, weights by output.
import { bos, concatenate, positions, protobuf, quantize, transpose, weights } from './data.mjs';

const types = { float: 1, int8: 3, int64: 7, bool: 9 };
const typeOf = (data) => (data instanceof Float32Array ? types.float : data instanceof Int8Array ? types.int8
  : data instanceof BigInt64Array ? types.int64 : types.bool);

const tensor = (name, dims, data) => [
  ...dims.map((size) => [1, size]), [2, typeOf(data)], [8, name], [9, new Uint8Array(data.buffer)]];

function attribute(name, value) {
  if (Array.isArray(value)) return [[1, name], ...value.map((item) => [8, item]), [20, 7]];
  if (value.graph) return [[1, name], [6, value.graph], [20, 5]];
  if (value.float !== undefined) return [[1, name], [2, value], [20, 1]];
  if (value.tensor) return [[1, name], [5, value.tensor], [20, 4]];
  return [[1, name], [3, value], [20, 2]];
}

// A value's name, type and shape; sizes that are not known are names.
export const port = (name, type, dims) => [[1, name], [2, [[1, [
  [1, types[type]], [2, dims.map((size) => [1, [typeof size === 'number' ? [1, size] : [2, size]]])]]]]]];

class Graph {
  nodes = [];
  count = 0;

  // A graph inside another one shares its constants.
  constructor(prefix = '', constants = new Map()) {
    this.prefix = prefix;
    this.constants = constants;
  }

  node(type, inputs, outputs, attributes = {}) {
    this.nodes.push([...inputs.map((name) => [1, name]), ...outputs.map((name) => [2, name]), [4, type],
      ...Object.entries(attributes).map(([name, value]) => [5, attribute(name, value)])]);
  }

  op(type, inputs, attributes) {
    return this.split(type, inputs, 1, attributes)[0];
  }

  split(type, inputs, count, attributes) {
    const outputs = Array.from({ length: count }, (_, i) => `${this.prefix}${type}${this.count}_${i}`);
    this.count++;
    this.node(type, inputs, outputs, attributes);
    return outputs;
  }

  constant(name, dims, make) {
    if (!this.constants.has(name)) this.constants.set(name, tensor(name, dims, make()));
    return name;
  }

  ints(...values) {
    return this.constant(`ints ${values}`, [values.length], () => BigInt64Array.from(values, BigInt));
  }

  number(value) {
    return this.constant(`number ${value}`, [], () => Float32Array.of(value));
  }

  rename(from, to) {
    this.node('Identity', [from], [to]);
  }

  fields(inputs, outputs, withConstants = true) {
    const constants = withConstants ? [...this.constants.values()] : [];
    return [...this.nodes.map((node) => [1, node]), [2, 'graph'], ...constants.map((item) => [5, item]),
      ...inputs.map((item) => [11, item]), ...outputs.map((item) => [12, item])];
  }

  bytes(inputs, outputs) {
    return protobuf([[1, 8], [7, this.fields(inputs, outputs)], [8, [[1, ''], [2, 17]]]]);
  }

  // x w + b for weights [outputs, inputs], kept transposed; int8 where asked for.
  product(x, name, matrix, precision) {
    const [rows, cols] = matrix.shape;
    if (precision === 'f32') {
      return this.op('MatMul', [x, this.constant(name, [cols, rows], () => transpose(matrix.data, rows, cols))]);
    }
    this.quantized ??= new Map();
    if (!this.quantized.has(x)) this.quantized.set(x, this.split('DynamicQuantizeLinear', [x], 3));
    const [values, scale, zero] = this.quantized.get(x);
    let both;
    const int8 = () => (both ??= quantize(matrix));
    const w = this.constant(`${name}.int8`, [cols, rows], () => transpose(int8().data, rows, cols));
    const scales = this.constant(`${name}.scale`, [rows], () => int8().scale);
    const zeros = this.constant(`zeros ${rows}`, [rows], () => new Int8Array(rows));
    const sum = this.op('MatMulInteger', [values, w, zero, zeros]);
    return this.op('Mul', [this.op('Cast', [sum], { to: types.float }), this.op('Mul', [scale, scales])]);
  }
}

export function matrixProduct([m, k, n], matrix, precision) {
  const graph = new Graph();
  graph.rename(graph.product('A', 'w', { shape: [n, k], data: matrix }, precision), 'C');
  return graph.bytes([port('A', 'float', [m, k])], [port('C', 'float', [m, n])]);
}

/** Of the decoder. */
export const layersOf = ({ layers, decoderLayers = layers }) => Array.from({ length: decoderLayers }, (_, i) => i);

export class Model extends Graph {
  constructor(shape, precision, prefix, constants, tensors = weights(shape)) {
    super(prefix, constants);
    Object.assign(this, { shape, precision, tensors, d: shape.d, heads: shape.heads });
  }

  vector(name, part = this.tensors.get(name)) {
    return this.constant(name, [part.data.length], () => part.data);
  }

  // Several projections of x at once, where they stand in `names`.
  linear(x, ...names) {
    const parts = (ending) => names.map((name) => this.tensors.get(`${name}.${ending}`));
    const join = (tensors) => (tensors.length === 1 ? tensors[0].data
      : new Float32Array(concatenate(tensors.map(({ data }) => new Uint8Array(data.buffer))).buffer));
    const matrices = parts('weight');
    const rows = matrices.reduce((sum, { shape }) => sum + shape[0], 0);
    const matrix = { shape: [rows, matrices[0].shape[1]], get data() { return join(matrices); } };
    const name = names.join('+');
    const y = this.op('Add', [this.product(x, name, matrix, this.precision),
      this.constant(`${name}.bias`, [rows], () => join(parts('bias')))]);
    if (names.length === 1) return y;
    return this.split('Split', [y, this.ints(...names.map(() => this.d))], names.length, { axis: -1 });
  }

  embed(ids, at) {
    const { vocabulary } = this.shape;
    const table = this.tensors.get('model.shared.weight');
    let rows;
    if (this.precision === 'f32') {
      rows = this.op('Gather', [this.constant('embedding', [vocabulary, this.d], () => table.data), ids]);
    } else {
      let both;
      const int8 = () => (both ??= quantize(table));
      const values = this.constant('embedding.int8', [vocabulary, this.d], () => int8().data);
      const scales = this.constant('embedding.scale', [vocabulary, 1], () => int8().scale);
      rows = this.op('Mul', [this.op('Cast', [this.op('Gather', [values, ids])], { to: types.float }),
        this.op('Gather', [scales, ids])]);
    }
    const places = this.constant('positions', [512, this.d], () => this.positions());
    return this.op('Add', [this.op('Mul', [rows, this.number(Math.sqrt(this.d))]), this.op('Gather', [places, at])]);
  }

  positions() {
    return positions(this.shape);
  }

  norm(x, sublayer, name) {
    return this.op('LayerNormalization',
      [this.op('Add', [x, sublayer]), this.vector(`${name}.weight`), this.vector(`${name}.bias`)],
      { axis: -1, epsilon: { float: 1e-5 } });
  }

  // [batch, rows, d] to [batch, heads, rows, d / heads]; one row needs no transposition.
  splitHeads(x, one = false) {
    const size = this.d / this.heads;
    if (one) return this.op('Reshape', [x, this.ints(0, this.heads, 1, size)]);
    return this.op('Transpose', [this.op('Reshape', [x, this.ints(0, 0, this.heads, size)])], { perm: [0, 2, 1, 3] });
  }

  flip(keys) {
    return this.op('Transpose', [keys], { perm: [0, 1, 3, 2] });
  }

  attend(queries, keys, values, one) {
    const scores = this.op('Mul', [this.op('MatMul', [queries, keys]), this.number((this.d / this.heads) ** -0.5)]);
    const masked = this.mask ? this.op('Add', [scores, this.mask]) : scores;
    const mixed = this.op('MatMul', [this.op('Softmax', [masked], { axis: -1 }), values]);
    const rows = one ? mixed : this.op('Transpose', [mixed], { perm: [0, 2, 1, 3] });
    return this.op('Reshape', [rows, this.ints(0, one ? 1 : -1, this.d)]);
  }

  feedForward(x, layer) {
    const inner = this.op('Relu', [this.linear(x, `${layer}.fc1`)]);
    return this.norm(x, this.linear(inner, `${layer}.fc2`), `${layer}.final_layer_norm`);
  }

  // Keys (flipped) and values of the cross-attention of each layer.
  encode(ids, at = this.ints(...Array(this.shape.tokens).keys())) {
    const names = (prefix, ...parts) => parts.map((part) => `${prefix}.${part}_proj`);
    let x = this.embed(ids, at);
    for (let i = 0; i < this.shape.layers; i++) {
      const layer = `model.encoder.layers.${i}`;
      const parts = this.linear(x, ...names(`${layer}.self_attn`, 'q', 'k', 'v'));
      const [q, k, v] = parts.map((part) => this.splitHeads(part));
      x = this.norm(x, this.linear(this.attend(q, this.flip(k), v, false), `${layer}.self_attn.out_proj`),
        `${layer}.self_attn_layer_norm`);
      x = this.feedForward(x, layer);
    }
    return layersOf(this.shape).map((i) => {
      const [k, v] = this.linear(x, ...names(`model.decoder.layers.${i}.encoder_attn`, 'k', 'v'));
      return [this.flip(this.splitHeads(k)), this.splitHeads(v)];
    });
  }

  // The decoder's attention to the tokens so far: what follows it, and the new past.
  remember(x, layer, past) {
    const attention = `${layer}.self_attn`;
    const [q, k, v] = this.linear(x, ...['q', 'k', 'v'].map((part) => `${attention}.${part}_proj`))
      .map((part) => this.splitHeads(part, true));
    const [keys, values] = [k, v].map((part, j) => this.op('Concat', [past[j], part], { axis: 2 }));
    const mixed = this.attend(q, this.flip(keys), values, true);
    return [this.norm(x, this.linear(mixed, `${attention}.out_proj`), `${attention}_layer_norm`), [keys, values]];
  }

  // One token of each sentence; past and cross: [keys, values] of each layer. Returns the next tokens and the new past.
  step(ids, at, past, cross) {
    let x = this.embed(ids, at);
    const present = [];
    for (const i of layersOf(this.shape)) {
      const layer = `model.decoder.layers.${i}`;
      [x, present[i]] = this.remember(x, layer, past[i]);
      const query = this.splitHeads(this.linear(x, `${layer}.encoder_attn.q_proj`), true);
      x = this.norm(x, this.linear(this.attend(query, ...cross[i], true), `${layer}.encoder_attn.out_proj`),
        `${layer}.encoder_attn_layer_norm`);
      x = this.feedForward(x, layer);
    }
    return [this.op('ArgMax', [this.logits(x)], { axis: -1, keepdims: 0 }), present];
  }

  logits(x) {
    const { vocabulary } = this.shape;
    const bias = this.vector('final_logits_bias');
    const table = this.tensors.get('model.shared.weight');
    if (this.precision !== 'f32') return this.op('Add', [this.product(x, 'output', table, 'int8'), bias]);
    // The tied table, kept once.
    const rows = this.op('Reshape', [x, this.ints(-1, this.d)]);
    const embedding = this.constant('embedding', [vocabulary, this.d], () => table.data);
    const scores = this.op('Gemm', [rows, embedding, bias], { transB: 1 });
    return this.op('Reshape', [scores, this.ints(-1, 1, vocabulary)]);
  }
}

export const cachePorts = (shape, keys, rows, flipped) => layersOf(shape).flatMap((i) => {
  const size = shape.d / shape.heads;
  return [
    port(`${keys}k${i}`, 'float', ['batch', shape.heads, ...(flipped ? [size, rows] : [rows, size])]),
    port(`${keys}v${i}`, 'float', ['batch', shape.heads, rows, size]),
  ];
});
export const named = (shape, name) => layersOf(shape).map((i) => [`${name}k${i}`, `${name}v${i}`]);
export const expose = (graph, pairs, name) => pairs.forEach(([keys, values], i) => {
  graph.rename(keys, `${name}k${i}`);
  graph.rename(values, `${name}v${i}`);
});

/** One call a sentence and one a token: the bytes of [encoder, decoder]. */
export function stepGraphs(shape, precision) {
  const sources = [port('source', 'int64', ['batch', shape.tokens])];
  const encoder = new Model(shape, precision);
  expose(encoder, encoder.encode('source'), 'c');
  const decoder = new Model(shape, precision, '', undefined, encoder.tensors);
  const [next, present] = decoder.step('ids', 'at', named(shape, 'p'), named(shape, 'c'));
  decoder.rename(next, 'next');
  expose(decoder, present, 'n');
  return [
    encoder.bytes(sources, cachePorts(shape, 'c', 'source', true)),
    decoder.bytes([port('ids', 'int64', ['batch', 1]), port('at', 'int64', [1]), ...cachePorts(shape, 'p', 'past'),
      ...cachePorts(shape, 'c', 'source', true)],
    [port('next', 'int64', ['batch', 1]), ...cachePorts(shape, 'n', 'present')]),
  ];
}

/** All of greedy decoding in one graph. */
export function loopGraph(shape, precision) {
  const outer = new Model(shape, precision);
  const cross = outer.encode('source');
  const body = new Model(shape, precision, 'loop ', outer.constants, outer.tensors);
  const at = body.op('Unsqueeze', ['loop i', body.ints(0)]);
  const [next, present] = body.step('loop ids', at, named(shape, 'loop p'), cross);
  body.rename('loop go', 'loop goes');
  body.rename(next, 'loop next');
  body.rename(next, 'loop token');
  expose(body, present, 'loop n');
  const inside = body.fields(
    [port('loop i', 'int64', []), port('loop go', 'bool', []), port('loop ids', 'int64', ['batch', 1]),
      ...cachePorts(shape, 'loop p', 'past')],
    [port('loop goes', 'bool', []), port('loop next', 'int64', ['batch', 1]), ...cachePorts(shape, 'loop n', 'present'),
      port('loop token', 'int64', ['batch', 1])], false);
  const batch = outer.op('Slice', [outer.op('Shape', ['source']), outer.ints(0), outer.ints(1)]);
  const filled = (dims, data) => outer.op('ConstantOfShape',
    [outer.op('Concat', [batch, outer.ints(...dims)], { axis: 0 })], { value: { tensor: tensor('value', [1], data) } });
  const size = shape.d / shape.heads;
  const nothing = filled([shape.heads, 0, size], Float32Array.of(0));
  const start = filled([1], BigInt64Array.of(BigInt(bos)));
  const count = outer.constant('count', [], () => BigInt64Array.of(BigInt(shape.tokens)));
  const go = outer.constant('true', [], () => Uint8Array.of(1));
  const state = layersOf(shape).flatMap(() => [nothing, nothing]);
  const results = outer.split('Loop', [count, go, start, ...state], state.length + 2, { body: { graph: inside } });
  const steps = outer.op('Squeeze', [results.at(-1), outer.ints(2)]);
  outer.node('Transpose', [steps], ['tokens'], { perm: [1, 0] });
  const tokens = ['source', 'tokens'].map((name) => port(name, 'int64', ['batch', shape.tokens]));
  return outer.bytes([tokens[0]], [tokens[1]]);
}
