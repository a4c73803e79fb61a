// Compiled, never run: the types of the package as its users meet them.
import {
  Classifier, Tagger, Trainer, Translator, type AttentionMaps, type BeamNode, type Matrix, type NumberRows, type Translation,
} from '../../dist/index.js';
import { Engine } from '../../dist/worker/engine.js';
import { pipeline } from '../../dist/pipeline/index.js';
import { byLanguage } from '../../dist/webpages/index.js';

const translator = await Translator.load('model.safetensors', {
  threads: 'auto',
  onProgress: (loaded, total) => loaded / (total ?? loaded),
  cache: false,
  integrity: 'sha256-…',
  signal: AbortSignal.timeout(1000),
});
const one: Translation = await translator.translate('Danke!', { onPartial: (partial: string) => partial.length });
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
const rows: Matrix | undefined = forced.internals?.decoder.layers[0]?.crossAttention?.queries;
const oldName: NumberRows | undefined = rows;
export const inside = [why, oldName?.data, forced.internals?.encoder.tokenEmbedding.columns];

const either: string | string[] = ['Danke!', 'Bitte!'];
const eitherWay: Translation | Translation[] = await translator.translate(either as string | string[], { beamSize: 2 });
async function *lines(): AsyncGenerator<string> {
  yield await Promise.resolve('Danke!');
}
const indices: number[] = [];
for await (const { index } of translator.translateAll(lines(), { batchSize: 4, startIndex: 1, beamSize: 1 })) indices.push(index);
const { text, sentences } = await translator.translateText('Danke! Bitte!', { attention: true });
const size: number | undefined = (await Translator.estimate('Helsinki-NLP/opus-mt-de-en', { precision: 'f16' })).download;
export const longer = [eitherWay, indices, text, sentences[0]?.begin, size];

// @ts-expect-error: a loop takes the texts
translator.translateAll(['Danke!'], { onToken() {} });
// @ts-expect-error: there is no such attention
await translator.translate('Danke!', { maskedHeads: [{ attention: 'self', layer: 0, head: 0 }] });
// @ts-expect-error: there is no such option
await translator.translate('Danke!', { beam_size: 4 });
// @ts-expect-error: one text has one partial text
await translator.translate('Danke!', { onPartial: (partial: string[]) => partial });
// @ts-expect-error: only load() makes a translator
new Translator();

const mixed = byLanguage('auto', [translator]);
const languages: string[] = (await mixed.translateText('Danke! Bitte!')).sentences.map(({ translation }) => translation.language);
const blocking = (await Engine.create({ threads: 2 })).load(new Uint8Array());
const now: string = blocking.translate('Danke!').text + blocking.translateText('Danke! Bitte!').text;
const trainer = await Trainer.create({ task: 'reverse', shareWith: translator });
const streamed: string[] = [];
for await (const text of translator.stream('Danke!', { beamSize: 2 })) streamed.push(text);
const translate = await pipeline('translation', 'model.safetensors', { shareWith: trainer });
const output: string | undefined = (await translate(['Danke!'], { num_beams: 2 }))[0]?.translation_text;
export const others = [now, streamed, output, languages];
// @ts-expect-error: nobody could raise it
blocking.translate('Danke!', { signal: AbortSignal.timeout(1) });
// @ts-expect-error: only translate() reports partial texts
blocking.translateText('Danke!', { onPartial: (partial: string) => partial });
// @ts-expect-error: another task has another output
export const wrong = (await translate('Danke!'))[0]?.generated_text;

const classifier = await Classifier.load('model.safetensors', { shareWith: translator });
const label: string | undefined = (await classifier.classify('Danke!', { topLabels: 1 })).labels[0]?.label;
const tagger = await Tagger.load('model.safetensors', { shareWith: classifier });
const places: number[] = (await tagger.tag(['Danke!'])).flatMap(({ spans }) => spans.map(({ start, end }) => end - start));
const learner = await Trainer.create({ labeled: [['a', 'b'], [['a', 'c'], 'b']], tagged: 'a\tO\n', validTagged: [[['a'], ['O']]] });
for await (const { validation } of learner.run()) void [validation?.spanF1, validation?.annotated?.[0]?.annotation.tokens];
const classify = await pipeline('text-classification', 'model.safetensors');
const score: number | undefined = (await classify(['Danke!']))[0]?.score;
const group: string | undefined = (await (await pipeline('token-classification', ''))('Danke!'))[0]?.entity_group;
export const annotations = [label, places, score, group, classifier.info.classes];
// @ts-expect-error: a classifier does not translate
await classifier.translate('Danke!');
// @ts-expect-error: a tagger has no such option
await tagger.tag('Danke!', { beamSize: 1 });

translator.dispose();
translator[Symbol.dispose]();
