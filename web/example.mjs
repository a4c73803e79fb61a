// What is made with the package when the page is built: the default beam size, and the translation that the page shows
// until its model has loaded, that model's own.
import { readFile } from 'node:fs/promises';
import { Translator } from 'wasmformer';
import { options } from 'wasmformer/options';

/** The package's default, so that the page need not carry the description of all options. */
export const { default: beamSize } = options.translate.find(({ name }) => name === 'beamSize');

export async function translateExample(model, source) {
  const translator = await Translator.load(await readFile(model));
  try {
    const { attention, alternatives, ...translation } =
      await translator.translate(source, { beamSize, nBest: beamSize, attention: true, topTokens: 8 });
    const short = ({ layers, heads, rows, columns, data }) =>
      ({ layers, heads, rows, columns, perMille: Array.from(data, (weight) => Math.round(1000 * weight)) });
    const { encoder, decoder, cross } = attention;
    // To keep the file small: rounded numbers, and candidate tokens for the best translation only.
    const rounded = (_, value) => (typeof value === 'number' ? Number(value.toFixed(4)) : value);
    const plain = ({ piece, id, logProbability }) => ({ piece, id, logProbability });
    const others = alternatives.slice(1).map((one) => ({ ...one, targetTokens: one.targetTokens.map(plain) }));
    const all = { ...translation, alternatives: [alternatives[0], ...others] };
    return {
      source,
      norm: translator.info.config.norm,
      ...JSON.parse(JSON.stringify(all, rounded)),
      attention: { encoder: short(encoder), decoder: short(decoder), cross: short(cross) },
    };
  } finally {
    translator.dispose();
  }
}
