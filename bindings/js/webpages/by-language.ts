// Several models into one language; each sentence goes to the one that reads its language.
import { checked, isObject, refuseOfSentence, type Rule } from '../shared/checks.js';
import { WasmformerError, WasmformerTypeError } from '../shared/errors.js';
import type {
  Alignment, SentenceDetector, SentenceTranslation, SentenceTranslator, TextRange,
} from '../shared/webpage-types.js';
import { composed, type Composed, type SentenceOptions } from './composed.js';

export interface LanguageTranslation extends SentenceTranslation {
  /** The language that the sentence was taken for: that of a model, of all models' translations, or another one. */
  language: string;
}

const ROOM = 'by language';
const UNKNOWN = 'und';
/** The standard's code for several languages. */
const SEVERAL = 'mul';
/** With less confidence, a sentence is in the language of most of the others. */
const SURE = 0.6;

/** 'auto' for the installed package's detector, or a detector. */
export const detectorRule: Rule = {
  accepts: (value) => value === 'auto' || (isObject(value) && 'detect' in value), expected: "'auto' or a detector",
};

async function detectorOf(source: 'auto' | SentenceDetector): Promise<SentenceDetector> {
  return source === 'auto' ? (await import('../detect/index.js')).loadDetector() : source;
}

const baseOf = (language: string) => language.split('-')[0]!;

/** The language of each sentence. */
function languagesOf(detector: SentenceDetector, texts: readonly string[]): string[] {
  const sums = new Map<string, number>();
  const found = texts.map((text) => {
    const all = detector.detect(text);
    for (const { language, confidence } of all) sums.set(language, (sums.get(language) ?? 0) + confidence);
    return all[0] ?? { language: UNKNOWN, confidence: 1 };
  });
  const known = [...sums].filter(([language]) => language !== UNKNOWN).sort(([, a], [, b]) => b - a);
  const most = known[0]?.[0] ?? UNKNOWN;
  return found.map(({ language, confidence }) => (language !== UNKNOWN && confidence >= SURE ? language : most));
}

/** The words of a text, each aligned with itself. */
function unchanged(text: string): Alignment {
  const found = [...text.matchAll(/\S+/g)];
  const words: TextRange[] = found.map(({ index, 0: word }) => ({ start: index, end: index + word.length }));
  const data = new Float32Array(words.length ** 2);
  words.forEach((_, i) => (data[i * words.length + i] = 1));
  return { source: words, target: words, data };
}

/** The translators by what they read, and the language that all of them write. */
function byWhatTheyRead<Found extends SentenceTranslation>(translators: readonly SentenceTranslator<Found>[]) {
  const readers = new Map<string, SentenceTranslator<Found>>();
  const targets = new Set<string>();
  for (const translator of translators) {
    const [from, to] = (translator.info.languages || '-').split('-');
    if (!from || !to) throw new WasmformerTypeError(ROOM, 'a model does not say its languages');
    if (from === SEVERAL) throw new WasmformerTypeError(ROOM, 'a translator of several models detects languages itself');
    if (readers.has(from)) throw new WasmformerError(ROOM, `two models read '${from}'`);
    readers.set(from, translator);
    targets.add(to);
  }
  if (targets.size !== 1) {
    throw new WasmformerError(ROOM, `all models must translate into one language, not into ${targets.size}`);
  }
  return { readers, target: [...targets][0]! };
}

/**
 * Translates each sentence with the model that reads its language. Sentences in another language stay as they are, and
 * so do those in the language that the models translate into. An unclear sentence, such as a name, is taken to be in
 * the language of most sentences of the same call.
 * @param detector 'auto' for that of the installed package `wasmformer-detect`, which the first call loads
 * @throws when two models read the same language, or they translate into different ones. With 'auto', translate() rejects
 * as loadDetector() does: where the package is not installed, with 'not-installed'
 * @example
 * const models = await Promise.all(['de-en', 'fr-en'].map((name) => Translator.load(`models/${name}.safetensors`)));
 * const translator = byLanguage('auto', models);
 * const [{ text, language }] = await translator.translate(['Où est mon livre ?']); // language: 'fr'
 */
export function byLanguage<Found extends SentenceTranslation>(
  detector: 'auto' | SentenceDetector, translators: readonly SentenceTranslator<Found>[],
): Composed<Found & LanguageTranslation> {
  checked(ROOM, { detector: detectorRule }, { detector });
  const { readers, target } = byWhatTheyRead(translators);
  const translateAll = async (texts: readonly string[], options: SentenceOptions) => {
    refuseOfSentence(ROOM, 'several models', options);
    options.signal?.throwIfAborted();
    const languages = languagesOf(await detectorOf(detector), texts);
    const keep = (text: string) => ({ text, ...(options.alignment && { alignment: unchanged(text) }) }) as Found;
    const found = texts.map((text, i) => ({ ...keep(text), language: languages[i]! }));
    for (const [from, translator] of readers) {
      const places = [...texts.keys()].filter((i) => baseOf(languages[i]!) === from);
      if (places.length === 0) continue;
      const translations = await translator.translate(places.map((i) => texts[i]!), options);
      translations.forEach((translation, k) => {
        const place = places[k]!;
        found[place] = { ...translation, language: languages[place]! };
      });
    }
    return found;
  };
  return composed(`${SEVERAL}-${target}`, [...translators], translateAll);
}
