// The pairs of languages that Translator knows, and the detector of LanguageDetector.
import { isModelName } from '../api/arguments.js';
import { Classifier } from '../api/encoders.js';
import { Translator } from '../api/translator.js';
import type { ListSource, LoadOptions, ModelSource } from '../shared/types.js';
import { canonicalTag, pairFit } from './languages.js';
import { SharedModel, type Load, type OnProgress } from './shared-model.js';

/** Whether a model is available, in the standard's words. */
export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

/** Argument of a function of your own that makes a model. */
export interface ModelRequest {
  /** Aborts when nobody waits for the model any more. */
  signal: AbortSignal;
  /** Call it with the bytes loaded so far, for the `downloadprogress` events. */
  onProgress: OnProgress;
}

/** Translator of texts of any length: one of this package, or an object of your own. */
export interface TextTranslator {
  translateText(text: string, options: { signal?: AbortSignal }): Promise<{ text: string }>;
  /** Yields parts that, joined, are the whole translation. Without it, the whole is the only part. */
  streamText?(text: string, options: { signal?: AbortSignal }): AsyncIterable<{ text: string }>;
  /** Counts what is compared with `inputQuota`. Without it, that is the length of the text. */
  countTokens?(text: string, options: { signal?: AbortSignal }): Promise<number>;
  dispose?(): void;
}

/** A language and how sure it is, from 0 to 1. */
export interface LanguageConfidence {
  language: string;
  confidence: number;
}

/** Detects the languages of a text. */
export interface TextDetector {
  /** The languages that it knows, as tags such as 'en'. */
  languages?: readonly string[];
  /** In any order; if they sum to less than 1, the rest is the share of unknown languages. */
  detect(
    text: string, options: { signal?: AbortSignal },
  ): readonly LanguageConfidence[] | Promise<readonly LanguageConfidence[]>;
  dispose?(): void;
}

type Files = Omit<LoadOptions, 'onProgress' | 'signal'>;

/** Options of load() for a model that is registered. */
export interface PairOptions extends Files {
  /** How many tokens a text for a Translator may have, or UTF-16 units one for a LanguageDetector. Default Infinity. */
  inputQuota?: number;
}

export interface DetectorOptions extends PairOptions {
  /** The languages that it knows, as tags such as 'en', so that they are known before it is loaded. */
  languages?: readonly string[];
}

/** A registered model. */
export class Entry<Model extends { dispose?(): void }> {
  readonly shared: SharedModel<Model>;
  readonly inputQuota: number;
  #isStored: () => Promise<boolean>;

  constructor(load: Load<Model>, isStored: () => Promise<boolean>, inputQuota = Infinity) {
    if (!(inputQuota >= 0)) throw new RangeError('inputQuota must be a number of at least 0');
    this.shared = new SharedModel(load);
    this.inputQuota = inputQuota;
    this.#isStored = isStored;
  }

  async availability(): Promise<Exclude<Availability, 'unavailable'>> {
    // If the server does not answer, create() reports it as a NetworkError.
    if (this.shared.state === 'open' || await this.#isStored().catch(() => false)) return 'available';
    return this.shared.state === 'loading' ? 'downloading' : 'downloadable';
  }
}

export interface Pair extends Entry<TextTranslator> {
  readonly source: string;
  readonly target: string;
}

/** A pair of a list. */
export interface RegisteredPair {
  sourceLanguage: string;
  targetLanguage: string;
  /** Removes it. */
  unregister(): void;
}

const pairs: Pair[] = [];
let detector: DetectorEntry | undefined;

/** The name of the model for two languages, such as 'de-en'. */
function modelName(source: string, target: string): string {
  const name = `${source}-${target}`;
  if (isModelName(name)) return name;
  throw new TypeError(`model is missing: there are models by name only for plain languages such as 'de', not for ${source} and ${target}`);
}

/**
 * Registers what translates from one language into another: a model as Translator.load() takes it, by default the one
 * by the name of these languages, such as 'de-en'; or a function that makes a translator. It replaces an earlier one of
 * the same languages. Nothing is loaded before create().
 * @returns a function that removes it
 * @throws when a language is not a valid tag
 */
export function registerPair(
  sourceLanguage: string,
  targetLanguage: string,
  model?: ModelSource | ((request: ModelRequest) => TextTranslator | Promise<TextTranslator>),
  options: PairOptions = {},
): () => void {
  const source = canonicalTag(sourceLanguage, 'sourceLanguage');
  const target = canonicalTag(targetLanguage, 'targetLanguage');
  const from = model ?? modelName(source, target);
  const { inputQuota, ...files } = options;
  const load: Load<TextTranslator> = async (signal, onProgress) =>
    (typeof from === 'function' ? from({ signal, onProgress }) : Translator.load(from, { ...files, signal, onProgress }));
  const pair: Pair = Object.assign(new Entry(load, storedOf(from, files), inputQuota), { source, target });
  remove(pairs, pairs.find((one) => one.source === source && one.target === target));
  pairs.push(pair);
  return () => remove(pairs, pair);
}

/**
 * Registers all pairs of a list by Mozilla, the best model of each, as Translator.load({ list, from, to }) loads it.
 * @throws when the list cannot be read
 */
export async function registerList(list: ListSource['list'], options: PairOptions = {}): Promise<RegisteredPair[]> {
  const { listModels } = await import('../convert/index.js');
  const { workerURL, wasmURL } = options;
  const found = await listModels(list, { workerURL, wasmURL });
  const known = new Map(found.map(({ from, to }) => [`${from} ${to}`, { from, to }]));
  return Array.from(known.values(), ({ from, to }) => {
    const unregister = registerPair(from, to, { list, from, to }, options);
    return { sourceLanguage: from, targetLanguage: to, unregister };
  });
}

export class DetectorEntry extends Entry<TextDetector> {
  readonly languages: readonly string[] | undefined;

  constructor(load: Load<TextDetector>, isStored: () => Promise<boolean>, { inputQuota, languages }: DetectorOptions) {
    super(load, isStored, inputQuota);
    this.languages = languages?.map((tag) => canonicalTag(tag, 'a language'));
  }
}

/** The detector of `wasmformer/detect`, with the model of the installed package. */
const installedDetector = async (): Promise<TextDetector> => (await import('../detect/index.js')).loadDetector();

/**
 * Registers a language detector: by default that of `wasmformer/detect` with the installed package `wasmformer-detect`;
 * or a model as Classifier.load() takes it, whose labels are language tags; or a function that makes a detector. It
 * replaces an earlier one. Nothing is loaded before create().
 * @returns a function that removes it
 */
export function registerDetector(
  model: ModelSource | ((request: ModelRequest) => TextDetector | Promise<TextDetector>) = installedDetector,
  options: DetectorOptions = {},
): () => void {
  const { inputQuota: _, languages: __, ...files } = options;
  const load: Load<TextDetector> = async (signal, onProgress) => {
    if (typeof model === 'function') return model({ signal, onProgress });
    return detectorOf(await Classifier.load(model, { ...files, signal, onProgress }));
  };
  const entry = new DetectorEntry(load, storedOf(model, files), options);
  detector = entry;
  return () => {
    if (detector === entry) detector = undefined;
  };
}

/** The labels of the texts, as languages. */
function detectorOf(classifier: Classifier): TextDetector {
  return {
    languages: classifier.info.classes.filter((label) => label !== 'und'),
    detect: async (text, options) => {
      const { labels } = await classifier.classify(text, options);
      return labels.map(({ label, probability }) => ({ language: label, confidence: probability }));
    },
    dispose: () => classifier.dispose(),
  };
}

/** Whether a model needs no download; unknown for a function. */
const storedOf = (model: ModelSource | ((request: ModelRequest) => unknown), files: Files) => async () => {
  if (typeof model === 'function') return false;
  const { shareWith: _, threads: __, ...where } = files;
  return (await Translator.estimate(model, where)).isStored;
};

function remove<T>(items: T[], item: T | undefined): void {
  const index = item === undefined ? -1 : items.indexOf(item);
  if (index >= 0) items.splice(index, 1);
}

/** The registered pair that matches best; undefined if none does. */
export function pairFor(wanted: { sourceLanguage: string; targetLanguage: string }): Pair | undefined {
  const ranked = pairs.map((pair) => ({ pair, rank: pairFit(pair.source, pair.target, wanted) }));
  return ranked.filter(({ rank }) => rank > 0).sort((a, b) => b.rank - a.rank)[0]?.pair;
}

export const registeredDetector = (): DetectorEntry | undefined => detector;
