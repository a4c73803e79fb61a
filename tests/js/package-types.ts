// Compiled, never run: the types of the package as its users meet them.
import { Translator, type AttentionMaps, type Translation } from '../../dist/index.js';

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

// @ts-expect-error: there is no such option
await translator.translate('Danke!', { beam_size: 4 });
// @ts-expect-error: one text has one partial text
await translator.translate('Danke!', { onToken: (partial: string[]) => partial });
// @ts-expect-error: only load() makes a translator
new Translator();

translator.dispose();
translator[Symbol.dispose]();
