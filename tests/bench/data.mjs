// Models of fixed shapes with seeded random weights, and the sentences that every system reads.
// Runs in browsers and in Node, so that all of them get the same numbers without a file between them.

export const shapes = {
  S: { d: 64, heads: 4, layers: 2, ffn: 256, vocabulary: 64, tokens: 16, pairs: 64 },
  T: { d: 128, heads: 4, layers: 4, ffn: 256, vocabulary: 8000, tokens: 16, pairs: 32 },
  B: { d: 512, heads: 8, layers: 6, ffn: 2048, vocabulary: 32000, tokens: 20 },
  // The students that Firefox ships.
  tiny: { d: 256, heads: 8, layers: 6, decoderLayers: 2, ffn: 1536, vocabulary: 32000 },
  'base-memory': { d: 384, heads: 8, layers: 6, decoderLayers: 4, ffn: 1536, vocabulary: 32000 },
  base: { d: 512, heads: 8, layers: 6, decoderLayers: 2, ffn: 2048, vocabulary: 32000 },
};
export const [pad, unk, bos, eos] = [0, 1, 2, 3];
const maxLength = 512;

// The token at place i of all; bench.cpp has the same line.
export const token = (i, vocabulary) => 4 + ((i * 7919) % (vocabulary - 4));

// `batch` sentences of the shape's length, the end token counted if there is one; a typed array of ids.
export function sentences({ tokens, vocabulary }, batch, ending = true) {
  return Int32Array.from({ length: batch * tokens }, (_, i) =>
    (ending && i % tokens === tokens - 1 ? eos : token(i, vocabulary)));
}

// Every word is one piece: four letters that count.
const units = [1, 26, 26 ** 2, 26 ** 3];
const letters = (id) => String.fromCharCode(...units.map((unit) => 97 + (Math.floor(id / unit) % 26)));

export function texts(shape, batch) {
  const ids = Array.from(sentences(shape, batch));
  return Array.from({ length: batch }, (_, i) =>
    ids.slice(i * shape.tokens, (i + 1) * shape.tokens - 1).map(letters).join(' '));
}

// Uniform numbers in [0, 1).
function uniform(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// Normally distributed, roughly as trained weights are.
function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Name (Hugging Face Marian's) -> { shape, data }; matrices are [outputs, inputs]. No special token is ever chosen. */
export function weights({ d, layers, decoderLayers = layers, ffn, vocabulary }) {
  const random = uniform(1);
  const all = new Map();
  const add = (name, shape, value) =>
    all.set(name, { shape, data: new Float32Array(shape.reduce((a, b) => a * b)).map(value) });
  const matrix = (name, rows, cols, gain = 1) => {
    const deviation = gain / Math.sqrt(cols);
    add(name, [rows, cols], () => deviation * normal(random));
  };
  // Sharp attention, or every sentence would look alike.
  const linear = (name, inputs, outputs) => {
    matrix(`${name}.weight`, outputs, inputs, /[qkv]_proj/.test(name) ? 4 : 1);
    add(`${name}.bias`, [outputs], () => 0.04 * (random() - 0.5));
  };
  const norm = (name) => {
    add(`${name}.weight`, [d], () => 1);
    add(`${name}.bias`, [d], () => 0);
  };
  const attention = (name) => {
    for (const part of ['q_proj', 'k_proj', 'v_proj', 'out_proj']) linear(`${name}.${part}`, d, d);
    norm(`${name}_layer_norm`);
  };
  matrix('model.shared.weight', vocabulary, d);
  for (const side of ['encoder', 'decoder']) {
    for (let i = 0; i < (side === 'encoder' ? layers : decoderLayers); i++) {
      const layer = `model.${side}.layers.${i}`;
      attention(`${layer}.self_attn`);
      if (side === 'decoder') attention(`${layer}.encoder_attn`);
      linear(`${layer}.fc1`, d, ffn);
      linear(`${layer}.fc2`, ffn, d);
      norm(`${layer}.final_layer_norm`);
    }
  }
  add('final_logits_bias', [1, vocabulary], (_, id) => (id < 4 ? -1e4 : 0));
  return all;
}

export function positions({ d }, count = maxLength) {
  return Float32Array.from({ length: count * d }, (_, i) => {
    const angle = Math.floor(i / d) / 10000 ** (((i % d) - (i % 2)) / d);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

export function transpose(data, rows, cols) {
  const result = new data.constructor(data.length);
  for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) result[c * rows + r] = data[r * cols + c];
  return result;
}

/** [rows, cols] floats as int8, each row with a scale: value = data × scale. */
export function quantize({ shape: [rows, cols], data }) {
  const scale = new Float32Array(rows);
  const int8 = new Int8Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    let most = 0;
    for (let i = r * cols; i < (r + 1) * cols; i++) most = Math.max(most, Math.abs(data[i]));
    scale[r] = Math.max(most, 1e-8) / 127;
    for (let i = r * cols; i < (r + 1) * cols; i++) int8[i] = Math.round(data[i] / scale[r]);
  }
  return { data: int8, scale };
}

// Protocol buffers: what SentencePiece's models and ONNX files are written in. A field is [number, value]:
// integers, strings, bytes, { float } or nested lists of fields.
export function protobuf(fields) {
  return concatenate(fields.flatMap(([number, value]) => {
    const key = (wire) => varint(number * 8 + wire);
    if (value === undefined) return [];
    if (typeof value === 'number' || typeof value === 'boolean') return [key(0), varint(Number(value))];
    if (value.float !== undefined) return [key(5), new Uint8Array(Float32Array.of(value.float).buffer)];
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value)
      : Array.isArray(value) ? protobuf(value) : value;
    return [key(2), varint(bytes.length), bytes];
  }));
}

export function concatenate(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function varint(value) {
  const bytes = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)];
    bytes.push(Number(rest & 127n) | 128);
  }
}

const ownSpecial = ['<pad>', '<unk>', '<s>', '</s>'];

/** Pieces that are whole words, after the `special` ones. */
export const wordPieces = ({ vocabulary }, special = ownSpecial) =>
  Array.from({ length: vocabulary }, (_, id) => special[id] ?? `\u2581${letters(id)}`);

/** A unigram SentencePiece model that splits a text into as few of these pieces as it can. */
export function tokenizer(pieces, ids = { unk, bos, eos, pad }) {
  const kinds = { normal: 1, unknown: 2, control: 3 };
  const kindOf = (id) => {
    if (id === ids.unk) return kinds.unknown;
    return Object.values(ids).includes(id) ? kinds.control : kinds.normal;
  };
  const fields = pieces.map((piece, id) =>
    [1, [[1, piece], [2, { float: kindOf(id) === kinds.normal ? -1 : 0 }], [3, kindOf(id)]]]);
  const trainer = [[3, 1], [4, pieces.length], [40, ids.unk], [41, ids.bos], [42, ids.eos], [43, ids.pad]];
  return protobuf([...fields, [2, trainer], [3, [[1, 'identity'], [3, 1], [4, 1], [5, 1]]]]);
}

/** The bytes of a model file of ours. precision: 'f32' or 'int8'. */
export function modelFile(shape, precision = 'f32') {
  const { d, heads, layers, ffn, vocabulary } = shape;
  const config = {
    source_vocab_size: vocabulary, target_vocab_size: vocabulary, d_model: d, encoder_layers: layers,
    decoder_layers: layers, num_heads: heads, ffn_dim: ffn, max_length: maxLength, activation: 'relu', norm: 'post',
    positions: 'sinusoidal', tie_embeddings: 'all', output_bias: true, norm_epsilon: 1e-5, dropout: 0,
    pad_id: pad, bos_id: bos, eos_id: eos,
  };
  let text = '';
  for (const byte of tokenizer(wordPieces(shape))) text += String.fromCharCode(byte);
  const header = {
    __metadata__: { format: 'wasmformer', version: '1', config: JSON.stringify(config), source_tokenizer: btoa(text) },
  };
  const parts = [];
  let at = 0;
  const add = (name, dtype, shape, data) => {
    parts.push(new Uint8Array(data.buffer));
    header[name] = { dtype, shape, data_offsets: [at, at + data.byteLength] };
    at += data.byteLength;
  };
  for (const [name, tensor] of weights(shape)) {
    if (precision === 'f32' || tensor.shape.length === 1 || tensor.shape[0] === 1) {
      add(name, 'F32', tensor.shape, tensor.data);
    } else {
      const { data, scale } = quantize(tensor);
      add(name, 'I8', tensor.shape, data);
      add(`${name}.scale`, 'F32', [tensor.shape[0]], scale);
    }
  }
  const json = JSON.stringify(header);
  const head = new TextEncoder().encode(json + ' '.repeat((8 - (json.length % 8)) % 8));
  return concatenate([new Uint8Array(BigUint64Array.of(BigInt(head.length)).buffer), head, ...parts]);
}
