// Compiled, never run: the types of the package as its users meet them.
import { Translator, type AttentionMaps, type BeamNode, type NumberRows, type Translation } from '../../dist/index.js';

const translator = await Translator.load('model.safetensors', {
  threads: 'auto',
  onProgress: (loaded, total) => loaded / (total ?? loaded),
  cache: false,
  integrity: 'sha256-…',
  signal: AbortSignal.timeout(1000),
});
const one: Translation = await translator.translate('Danke!', { onToken: (partial: string) => partial.length });
const many: Translation[] = await translator.translate(['Danke!'], { onToken: (partial) => partial.at(0)?.length });
const maps: AttentionMaps | undefined = one.attention?.cross;
const head: Float32Array | undefined = maps?.map(0, 0);
export const seen = [many[0]?.alternatives[0]?.targetTokens[0]?.top?.[0]?.piece, head, translator.info.config.d_model];

const forced: Translation = await translator.translate('Danke!', {
  prefix: [4, 5] as const,
  maskedSource: [0],
  maskedHeads: [{ attention: 'cross', layer: 0, head: 3 }],
  beamTrace: true,
  internals: true,
});
const nodes: BeamNode[] | undefined = forced.beam;
const why: 'beam' | 'score' | 'finished' | undefined = nodes?.[0]?.reason;
const rows: NumberRows | undefined = forced.internals?.decoder.layers[0]?.crossAttention?.queries;
export const inside = [why, rows?.data, forced.internals?.encoder.tokenEmbedding.columns];

// @ts-expect-error: there is no such attention
await translator.translate('Danke!', { maskedHeads: [{ attention: 'self', layer: 0, head: 0 }] });
// @ts-expect-error: there is no such option
await translator.translate('Danke!', { beam_size: 4 });
// @ts-expect-error: one text has one partial text
await translator.translate('Danke!', { onToken: (partial: string[]) => partial });
// @ts-expect-error: only load() makes a translator
new Translator();

translator.dispose();
translator[Symbol.dispose]();
