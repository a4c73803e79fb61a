// Bergamot, the translator of Firefox, through its own worker: int8, one worker.
import { shapes, texts } from '../data.mjs';
import { modelBytes, shortlist, vocabulary } from '../marian.mjs';
import { sample, translated } from './sample.mjs';

const folder = new URL('/build/bench/peers/node_modules/@browsermt/bergamot-translator/worker/', self.location);
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

export default async function ({ shape: name, batches, isStudent, hasShortlist }) {
  const shape = shapes[name];
  const call = await startWorker();
  await call('initialize', { cacheSize: 0 });
  await call('loadTranslationModel', { from: 'de', to: 'en' }, {
    model: modelBytes(shape, isStudent).buffer, shortlist: hasShortlist ? shortlist(shape).buffer : new ArrayBuffer(0),
    vocabs: [vocabulary(shape).buffer],
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
