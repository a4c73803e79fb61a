// The npm package as a page uses it.
import { Translator } from '/dist/index.js';
import { modelFile, shapes, texts } from '../data.mjs';
import { sample, translated } from './sample.mjs';

export default async function ({ shape: name, precision, threads, batches }) {
  const shape = shapes[name];
  const translator = await Translator.load(modelFile(shape, precision), { threads });
  const options = { beamSize: 1, maxLength: shape.tokens };
  return async (ms) => {
    const last = await translator.translate(texts(shape, batches.at(-1)), options);
    const figures = { ids: last.map(({ targetTokens }) => targetTokens.at(-1).id) };
    for (const batch of batches) {
      const time = await sample(() => translator.translate(texts(shape, batch), options), ms);
      Object.assign(figures, translated(batch, shape.tokens, time));
    }
    return figures;
  };
}
