// The models of data.mjs as Marian's binary files, int8 with multipliers for the inputs, as Firefox and Bergamot read them.
// Bergamot does not say how many tokens it made, so every token is the same word, and the words of its text are counted.
import { concatenate, tokenizer, weights, wordPieces } from './data.mjs';

const kinds = { float: 0x404, int8: 0x101, intgemm8: 0x4101 };
const special = ['</s>', '<unk>'];
const forced = 2;

const padded = (bytes) => concatenate([bytes, new Uint8Array(-bytes.length & 255)]);
const bytesOf = (array) => new Uint8Array(array.buffer);
const int64 = (...values) => bytesOf(BigUint64Array.from(values, BigInt));
const text = (value) => new TextEncoder().encode(`${value}\0`);

function config({ d, heads, layers, decoderLayers = layers, ffn, vocabulary }, isStudent) {
  const values = {
    'dim-vocabs': `[${vocabulary}, ${vocabulary}]`, 'dim-emb': d, 'enc-depth': layers, 'dec-depth': decoderLayers,
    'tied-embeddings': false, 'tied-embeddings-src': false, 'tied-embeddings-all': true, 'transformer-heads': heads,
    'transformer-no-projection': false, 'transformer-dim-ffn': ffn, 'transformer-ffn-depth': 2,
    'transformer-ffn-activation': 'relu', 'transformer-preprocess': '""', 'transformer-postprocess': 'dan',
    'transformer-postprocess-emb': 'd', 'transformer-postprocess-top': '""',
    'transformer-decoder-autoreg': isStudent ? 'rnn' : 'self-attention', 'dec-cell': isStudent ? 'ssru' : 'gru', 'dec-cell-base-depth': 2,
    'dec-cell-high-depth': 1, 'transformer-tied-layers': '[]', 'transformer-guided-alignment-layer': 'last',
    'transformer-train-position-embeddings': false, 'layer-normalization': false, 'right-left': false, skip: false,
    'input-types': '[]', 'special-vocab': '[]', type: 'transformer', version: 'v1.9.0',
  };
  return Object.entries(values).map(([key, value]) => `${key}: ${value}\n`).join('');
}

// Our names (Hugging Face's) as Marian's, numbered from 1. A student's decoder has a recurrent cell instead of self-attention.
function marianName(name, isStudent) {
  if (name === 'model.shared.weight') return 'Wemb';
  if (name === 'final_logits_bias') return 'decoder_ff_logit_out_b';
  const [, side, layer, rest] = name.match(/model\.(\w+)\.layers\.(\d+)\.(.*)/);
  const [part, ending] = [rest.slice(0, rest.lastIndexOf('.')), rest.endsWith('weight') ? 'W' : 'b'];
  const begin = `${side}_l${Number(layer) + 1}_`;
  const attention = (kind) => (kind === 'self_attn' ? 'self' : 'context');
  const norm = ending === 'W' ? '_ln_scale' : '_ln_bias';
  if (isStudent && side === 'decoder' && part.startsWith('self_attn')) {
    if (part.endsWith('_layer_norm')) return `${begin}rnn_ffn${norm}`;
    if (part.endsWith('q_proj')) return `${begin}rnn_${ending}f`;
    return part.endsWith('v_proj') && ending === 'W' ? `${begin}rnn_W` : undefined;
  }
  if (part === 'final_layer_norm') return `${begin}ffn_ffn${norm}`;
  if (part.endsWith('_layer_norm')) return `${begin}${attention(part.replace('_layer_norm', ''))}_Wo${norm}`;
  if (part.startsWith('fc')) return `${begin}ffn_${ending}${part[2]}`;
  const [kind, projection] = part.split('.');
  return `${begin}${attention(kind)}_${ending}${projection[0]}`;
}

// Items of [name, kind, shape, bytes]. A matrix of int8 has one scale, and its activations have another.
function items(shape, isStudent, tensors) {
  const all = [];
  const float = (name, dims, data) => all.push([name, kinds.float, dims, bytesOf(data)]);
  for (const [ours, { shape: [rows, cols], data }] of tensors) {
    const name = marianName(ours, isStudent);
    if (!name) continue;
    if (rows === 1) float(name, [1, cols], data);
    else if (cols === undefined) float(name, [1, rows], data);
    else {
      const scale = Float32Array.of(127 / data.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
      const int8 = Int8Array.from(data, (value) => Math.round(value * scale[0]));
      const dims = name === 'Wemb' ? [rows, cols] : [cols, rows];
      all.push([name, kinds.intgemm8, dims, concatenate([bytesOf(int8), bytesOf(scale)])]);
      const scaled = name === 'Wemb' ? [name, 'none'] : [name];
      for (const other of scaled) float(`${other}_QuantMultA`, [1, 1], Float32Array.of(127 / 6));
    }
  }
  all.sort(([a], [b]) => (a < b ? -1 : 1));
  const yaml = text(config(shape, isStudent));
  return [...all, ['special:model.yml', kinds.int8, [yaml.length], yaml]];
}

// Every token is the word `forced`.
function forcedWeights(shape) {
  const tensors = weights(shape);
  tensors.get('final_logits_bias').data.fill(0)[forced] = 1e4;
  return tensors;
}

export function modelBytes(shape, isStudent = false, tensors = forcedWeights(shape)) {
  const all = items(shape, isStudent, tensors).map(([name, kind, dims, bytes]) => ({ name: text(name), kind, dims, bytes: padded(bytes) }));
  const head = concatenate([
    int64(1, all.length),
    ...all.map(({ name, kind, dims, bytes }) => int64(name.length, kind, dims.length, bytes.length)),
    ...all.map(({ name }) => name),
    ...all.map(({ dims }) => bytesOf(Int32Array.from(dims))),
  ]);
  const gap = (Math.floor((head.length + 8) / 256) + 1) * 256 - head.length - 8;
  return concatenate([head, int64(gap), new Uint8Array(gap), ...all.map(({ bytes }) => bytes)]);
}

export const vocabularyOf = (pieces) => tokenizer(pieces, { unk: 1, bos: -1, eos: 0, pad: -1 });
export const vocabulary = (shape) => vocabularyOf(wordPieces(shape, special));

/** A binary shortlist: the first 50 pieces, and 50 others for each piece of the source, as in Firefox's files. */
export function shortlist({ vocabulary: size }) {
  const offsets = BigUint64Array.from({ length: size + 1 }, (_, id) => BigInt(50 * id));
  const step = Math.floor(size / 50);
  const lists = Uint32Array.from({ length: 50 * size }, (_, i) => (i % 50) * step + (Math.floor(i / 50) % step));
  const body = concatenate([int64(50, 50, offsets.length, lists.length), bytesOf(offsets), bytesOf(lists)]);
  return concatenate([bytesOf(BigUint64Array.of(0xF11A48D5013417F5n, checksum(body))), body]);
}

function checksum(bytes) {
  let sum = 0n;
  for (const word of new BigUint64Array(bytes.slice(0, bytes.length & ~7).buffer))
    sum ^= BigInt.asUintN(64, word + 0x9e3779b9n + (sum << 6n) + (sum >> 2n));
  return sum;
}
