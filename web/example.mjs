// The translation that the page shows until its model has loaded: that model's own, made when the page is built.
import { readFile } from 'node:fs/promises';
import { Translator } from 'wasmformer';

export async function translateExample(model, source) {
  const translator = await Translator.load(await readFile(model));
  try {
    const { attention, ...translation } = await translator.translate(source, { beamSize: 4, nBest: 4, attention: true });
    const { layers, heads, rows, columns, data } = attention.cross;
    const perMille = Array.from(data, (weight) => Math.round(1000 * weight));
    return { source, ...translation, cross: { layers, heads, rows, columns, perMille } };
  } finally {
    translator.dispose();
  }
}
