// The npm package with a student as Firefox has them, from the same files as Bergamot.
import { Translator } from '/dist/index.js';
import { importMarian } from '/dist/convert/index.js';
import { shapes, texts } from '../data.mjs';
import { modelBytes, shortlist, vocabulary } from '../marian.mjs';
import { sample, translated } from './sample.mjs';

/** The package's translator, with one thread. */
export async function loadStudent(parts) {
  const files = Object.entries(parts).map(([file, bytes]) => new File([bytes], file));
  return Translator.load(await importMarian(files), { threads: 1 });
}

export default async function ({ shape: name, batches, hasShortlist }) {
  const shape = shapes[name];
  const parts = { 'model.bin': modelBytes(shape, true), 'vocab.spm': vocabulary(shape), ...(hasShortlist && { 'lex.s2t.bin': shortlist(shape) }) };
  const translator = await loadStudent(parts);
  const options = { beamSize: 1, maxLength: shape.tokens };
  return async (ms) => {
    const figures = {};
    for (const batch of batches) {
      const [{ targetTokens }] = await translator.translate(texts(shape, batch), options);
      if (targetTokens.length !== shape.tokens) throw new Error(`it made ${targetTokens.length} tokens, not ${shape.tokens}`);
      Object.assign(figures, translated(batch, shape.tokens, await sample(() => translator.translate(texts(shape, batch), options), ms)));
    }
    return figures;
  };
}
