// A chapter of a novel, translated sentence by sentence and all at once by students of the shapes that Firefox ships.
import { readChapter, piecesFor } from '../chapter.mjs';
import { shapes } from '../data.mjs';
import { end, endingWeights, longest, unknown } from '../endings.mjs';
import { modelBytes, vocabularyOf } from '../marian.mjs';

const peers = '/build/bench/peers/node_modules';

// What Bergamot puts into one batch: the shortest sentences first, at most so many tokens with the padding.
function batchesOf(sentences, tokens = 1024) {
  const batches = [[]];
  for (const sentence of [...sentences].sort((a, b) => a.sourceTokens - b.sourceTokens)) {
    if ((batches.at(-1).length + 1) * sentence.sourceTokens > tokens) batches.push([]);
    batches.at(-1).push(sentence);
  }
  return batches;
}

// translate() of an engine that is given such batches.
const inBatches = (translateBatch) => async (sentences) => {
  for (const batch of batchesOf(sentences)) await translateBatch(batch);
};

// Throws unless a translation has the length that its sentence asks for, the end token counted.
function check({ text, length }, written) {
  if (written !== length) throw new Error(`it made ${written} tokens, not ${length}, of '${text}'`);
}

// Each returns translate(sentences). Only whole words are written, so words are counted where tokens are not told.
const engines = {
  async wasmformer({ marian }) {
    const { loadStudent } = await import('./student.mjs');
    const translator = await loadStudent({ 'model.bin': marian.model, 'vocab.spm': marian.vocabulary });
    return async (sentences) => {
      const all = await translator.translate(sentences.map(({ text }) => text), { beamSize: 1, maxLength: longest });
      all.forEach(({ sourceTokens, targetTokens }, i) => {
        if (sourceTokens.length !== sentences[i].sourceTokens) throw new Error(`it read '${sentences[i].text}' otherwise`);
        check(sentences[i], targetTokens.length);
      });
    };
  },

  async bergamot({ marian }) {
    const { countWords, loadBergamot } = await import('./bergamot.mjs');
    const translate = await loadBergamot(marian);
    return async (sentences) => {
      const all = await translate(sentences.map(({ text }) => text));
      all.forEach((text, i) => check(sentences[i], countWords(text) + 1));
    };
  },

  // The package is for Node: its script gets what it asks Node for.
  async fxtranslate({ marian: { model, vocabulary } }) {
    const folder = `${peers}/fxtranslate/wasm`;
    const script = await (await fetch(`${folder}/fxtranslate_wasm.js`)).text();
    const module = await (await fetch(`${folder}/fxtranslate_wasm_bg.wasm`)).arrayBuffer();
    const exports = {};
    new Function('exports', 'require', '__dirname', script)(exports, () => ({ readFileSync: () => module }), folder);
    const translator = new exports.Translator(model, vocabulary, vocabulary);
    return inBatches((sentences) => {
      const block = sentences.map(({ text }) => text).join('\n');
      const lines = translator.translateBlockPhased(block, () => {}).split('\n');
      const sourceTokens = sentences.reduce((sum, sentence) => sum + sentence.sourceTokens, 0);
      if (lines.pop().split('\t')[1] !== String(sourceTokens)) throw new Error('it read the text otherwise');
      lines.forEach((text, i) => check(sentences[i], text.split(' ').length + 1));
    });
  },

  async ort({ shape, pieces, tensors }) {
    const [{ load }, { studentGraphs }] = await Promise.all([import('./ort.mjs'), import('../onnx-student.mjs')]);
    const { ort, options } = await load();
    const [encoder, decoder] = await Promise.all(studentGraphs(shape, 'int8', tensors)
      .map((bytes) => ort.InferenceSession.create(bytes, options)));
    const ids = new Map(pieces.map((piece, id) => [piece, id]));
    const int64 = (values, dims) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), dims);
    return inBatches(async (sentences) => {
      const batch = sentences.length;
      const width = Math.max(...sentences.map(({ sourceTokens }) => sourceTokens));
      const rows = sentences.map(({ pieces }) => Array.from({ length: width }, (_, i) => (i < pieces.length ? ids.get(pieces[i]) : end)));
      const hidden = sentences.flatMap(({ sourceTokens }) => Array.from({ length: width }, (_, i) => (i < sourceTokens ? 0 : -1e9)));
      const mask = new ort.Tensor('float32', Float32Array.from(hidden), [batch, 1, 1, width]);
      const feed = await encoder.run({ source: int64(rows.flat(), [batch, width]), at: int64(Array(width).keys(), [width]), mask });
      feed.mask = mask;
      for (let i = 0; i < shape.decoderLayers; i++) {
        feed[`cell${i}`] = new ort.Tensor('float32', new Float32Array(batch * shape.d), [batch, 1, shape.d]);
      }
      feed.ids = int64(Array(batch).fill(unknown), [batch, 1]); // all zeros, as Marian begins
      const written = Array(batch).fill(0);
      for (let at = 0; at < longest && written.includes(0); at++) {
        feed.at = int64([at], [1]);
        const { next, ...cells } = await decoder.run(feed);
        next.data.forEach((id, i) => { if (Number(id) === end) written[i] ||= at + 1; });
        feed.ids = next;
        for (let i = 0; i < shape.decoderLayers; i++) feed[`cell${i}`] = cells[`next${i}`];
      }
      sentences.forEach((sentence, i) => check(sentence, written[i]));
    });
  },
};

async function load(engine, shape, text) {
  const pieces = piecesFor(text, shape);
  const tensors = endingWeights(shape, pieces);
  const marian = engine === 'ort' ? undefined : { model: modelBytes(shape, true, tensors), vocabulary: vocabularyOf(pieces) };
  return engines[engine]({ shape, pieces, tensors, marian });
}

// Every worker begins with the script that counts memory.
function watchMemory() {
  const watch = new URL('memory.mjs', import.meta.url).href;
  const Plain = globalThis.Worker;
  globalThis.Worker = class extends Plain {
    constructor(address, options) {
      const own = new URL(address, location.href).href;
      const script = options?.type === 'module' ? `import '${watch}'; import '${own}';` : `importScripts('${watch}', '${own}');`;
      super(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), options);
    }
  };
  return import(watch);
}

/** Megabytes of all modules in the page and its workers so far at most. */
async function memory() {
  const channel = new BroadcastChannel('wasm-memory');
  let sum = 0;
  channel.onmessage = ({ data }) => { sum += data; };
  channel.postMessage('count');
  await new Promise((resolve) => setTimeout(resolve, 500));
  channel.close();
  return sum / 1e6;
}

export default async function ({ engine, shape, blocks }) {
  await watchMemory();
  const text = await (await fetch('/tests/bench/northanger-abbey.txt')).text();
  const sentences = readChapter(text, blocks).flat();
  const words = sentences.reduce((sum, sentence) => sum + sentence.words, 0);
  const translate = await load(engine, shapes[shape], text);
  await translate(sentences.slice(0, 2));
  const part = async (name, groups) => {
    const start = performance.now();
    for (const group of groups) await translate(group);
    const seconds = (performance.now() - start) / 1000;
    return { [`${name}, words/s`]: words / seconds, [`${name}, memory`]: await memory() };
  };
  return async () => ({
    ...await part('sentence by sentence', sentences.map((sentence) => [sentence])),
    ...await part('all at once', [sentences]),
  });
}
