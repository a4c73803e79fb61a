// Bergamot, the translator of Firefox, through its own worker: int8, one worker. The model is that of data.mjs in
// Marian's binary format; since words must be told from their own count, one of them is always the next.
import { concatenate, shapes, texts, tokenizer, weights } from '../data.mjs';
import { sample, translated } from './sample.mjs';

const folder = new URL('/build/bench/peers/node_modules/@browsermt/bergamot-translator/worker/', self.location);
const kinds = { float: 0x404, int8: 0x101, intgemm8: 0x4101 };
const special = ['</s>', '<unk>'];
const forced = 2;

const padded = (bytes) => concatenate([bytes, new Uint8Array(-bytes.length & 255)]);
const bytesOf = (array) => new Uint8Array(array.buffer);
const int64 = (...values) => bytesOf(BigUint64Array.from(values, BigInt));
const text = (value) => new TextEncoder().encode(`${value}\0`);

function config({ d, heads, layers, ffn, vocabulary }) {
  const values = {
    'dim-vocabs': `[${vocabulary}, ${vocabulary}]`, 'dim-emb': d, 'enc-depth': layers, 'dec-depth': layers,
    'tied-embeddings': false, 'tied-embeddings-src': false, 'tied-embeddings-all': true, 'transformer-heads': heads,
    'transformer-no-projection': false, 'transformer-dim-ffn': ffn, 'transformer-ffn-depth': 2,
    'transformer-ffn-activation': 'relu', 'transformer-preprocess': '""', 'transformer-postprocess': 'dan',
    'transformer-postprocess-emb': 'd', 'transformer-postprocess-top': '""',
    'transformer-decoder-autoreg': 'self-attention', 'dec-cell': 'gru', 'dec-cell-base-depth': 2,
    'dec-cell-high-depth': 1, 'transformer-tied-layers': '[]', 'transformer-guided-alignment-layer': 'last',
    'transformer-train-position-embeddings': false, 'layer-normalization': false, 'right-left': false, skip: false,
    'input-types': '[]', 'special-vocab': '[]', type: 'transformer', version: 'v1.9.0',
  };
  return Object.entries(values).map(([key, value]) => `${key}: ${value}\n`).join('');
}

// Our names (Hugging Face's) as Marian's, numbered from 1.
function marianName(name) {
  if (name === 'model.shared.weight') return 'Wemb';
  if (name === 'final_logits_bias') return 'decoder_ff_logit_out_b';
  const [, side, layer, rest] = name.match(/model\.(\w+)\.layers\.(\d+)\.(.*)/);
  const [part, ending] = [rest.slice(0, rest.lastIndexOf('.')), rest.endsWith('weight') ? 'W' : 'b'];
  const begin = `${side}_l${Number(layer) + 1}_`;
  const attention = (kind) => (kind === 'self_attn' ? 'self' : 'context');
  const norm = ending === 'W' ? '_ln_scale' : '_ln_bias';
  if (part === 'final_layer_norm') return `${begin}ffn_ffn${norm}`;
  if (part.endsWith('_layer_norm')) return `${begin}${attention(part.replace('_layer_norm', ''))}_Wo${norm}`;
  if (part.startsWith('fc')) return `${begin}ffn_${ending}${part[2]}`;
  const [kind, projection] = part.split('.');
  return `${begin}${attention(kind)}_${ending}${projection[0]}`;
}

// Items of [name, kind, shape, bytes]. A matrix of int8 has one scale, and its activations another.
function items(shape) {
  const all = [];
  const float = (name, dims, data) => all.push([name, kinds.float, dims, bytesOf(data)]);
  for (const [ours, { shape: [rows, cols], data }] of weights(shape)) {
    const name = marianName(ours);
    if (ours === 'final_logits_bias') float(name, [1, cols], data.map((_, id) => (id === forced ? 1e4 : 0)));
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
  const yaml = text(config(shape));
  return [...all, ['special:model.yml', kinds.int8, [yaml.length], yaml]];
}

function modelBytes(shape) {
  const all = items(shape).map(([name, kind, dims, bytes]) => ({ name: text(name), kind, dims, bytes: padded(bytes) }));
  const head = concatenate([
    int64(1, all.length),
    ...all.map(({ name, kind, dims, bytes }) => int64(name.length, kind, dims.length, bytes.length)),
    ...all.map(({ name }) => name),
    ...all.map(({ dims }) => bytesOf(Int32Array.from(dims))),
  ]);
  const gap = (Math.floor((head.length + 8) / 256) + 1) * 256 - head.length - 8;
  return concatenate([head, int64(gap), new Uint8Array(gap), ...all.map(({ bytes }) => bytes)]);
}

// Its worker, but with as many output tokens as the source has.
async function startWorker() {
  const script = await (await fetch(new URL('translator-worker.js', folder))).text();
  const changed = script.replace('max-length-factor: 2.0', 'max-length-factor: 1.0')
    .replace("importScripts('bergamot", `importScripts('${folder}bergamot`)
    .replace("'./bergamot-translator-worker.wasm', self.location", `'${folder}bergamot-translator-worker.wasm'`);
  const worker = new Worker(URL.createObjectURL(new Blob([changed], { type: 'text/javascript' })));
  const waiting = new Map();
  let calls = 0;
  worker.onmessage = ({ data: { id, result, error } }) =>
    (error ? waiting.get(id).reject(new Error(error.message)) : waiting.get(id).resolve(result));
  return (name, ...args) => new Promise((resolve, reject) => {
    waiting.set(++calls, { resolve, reject });
    worker.postMessage({ id: calls, name, args });
  });
}

export default async function ({ shape: name, batches }) {
  const shape = shapes[name];
  const call = await startWorker();
  await call('initialize', { cacheSize: 0 });
  await call('loadTranslationModel', { from: 'de', to: 'en' }, {
    model: modelBytes(shape).buffer, shortlist: new ArrayBuffer(0),
    vocabs: [tokenizer(shape, special, { unk: 1, bos: -1, eos: 0, pad: -1 }).buffer],
    config: { 'check-bytearray': 'false', 'gemm-precision': 'int8shiftAlphaAll' },
  });
  const translate = (batch) => call('translate', {
    models: [{ from: 'de', to: 'en' }],
    texts: texts(shape, batch).map((text) => ({ text, html: false, qualityScores: false })),
  });
  return async (ms) => {
    const figures = {};
    for (const batch of batches) {
      const [first] = await translate(batch);
      const tokens = first.target.text.trim().split(/\s+/).length;
      if (tokens !== shape.tokens) throw new Error(`it made ${tokens} tokens, not ${shape.tokens}`);
      Object.assign(figures, translated(batch, tokens, await sample(() => translate(batch), ms)));
    }
    return figures;
  };
}
