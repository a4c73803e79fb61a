// Bergamot, the translator of Firefox, through its own worker: int8, one worker.
import { shapes, texts } from '../data.mjs';
import { modelBytes, shortlist, vocabulary } from '../marian.mjs';
import { sample, translated } from './sample.mjs';

const folder = new URL('/build/bench/peers/node_modules/@browsermt/bergamot-translator/worker/', self.location);
// Its worker, but with at most `lengthFactor` output tokens for each token of the source.
async function startWorker(lengthFactor) {
  const script = await (await fetch(new URL('translator-worker.js', folder))).text();
  const changed = script.replace('max-length-factor: 2.0', `max-length-factor: ${lengthFactor}`)
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

/** Returns translate(texts), which resolves to the translations. A sentence is a line. */
export async function loadBergamot({ model, vocabulary, shortlist = new Uint8Array(0) }, lengthFactor = 2) {
  const call = await startWorker(lengthFactor);
  await call('initialize', { cacheSize: 0 });
  await call('loadTranslationModel', { from: 'de', to: 'en' }, {
    model: model.buffer, shortlist: shortlist.buffer, vocabs: [vocabulary.buffer],
    config: { 'check-bytearray': 'false', 'gemm-precision': 'int8shiftAlphaAll', 'ssplit-mode': 'sentence' },
  });
  return async (texts) => {
    const answers = await call('translate', {
      models: [{ from: 'de', to: 'en' }],
      texts: texts.map((text) => ({ text, html: false, qualityScores: false })),
    });
    return answers.map(({ target }) => target.text);
  };
}

export const countWords = (text) => text.trim().split(/\s+/).length;

export default async function ({ shape: name, batches, isStudent, hasShortlist }) {
  const shape = shapes[name];
  const parts = { model: modelBytes(shape, isStudent), vocabulary: vocabulary(shape) };
  if (hasShortlist) parts.shortlist = shortlist(shape);
  // As many output tokens as the source has.
  const translateAll = await loadBergamot(parts, 1);
  const translate = (batch) => translateAll(texts(shape, batch));
  return async (ms) => {
    const figures = {};
    for (const batch of batches) {
      const [first] = await translate(batch);
      const tokens = countWords(first);
      if (tokens !== shape.tokens) throw new Error(`it made ${tokens} tokens, not ${shape.tokens}`);
      Object.assign(figures, translated(batch, tokens, await sample(() => translate(batch), ms)));
    }
    return figures;
  };
}
