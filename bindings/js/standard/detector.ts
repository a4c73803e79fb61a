// LanguageDetector, as the Language Detector API of the W3C's community group has it.
import { checkActive, domError } from './errors.js';
import { createWith, Destroyable, key, type CallOptions, type CreateOptions } from './destroyable.js';
import { bestFit, canonicalTag, hasNoWords } from './languages.js';
import { nativeFor } from './native.js';
import { registeredDetector, type Availability, type LanguageConfidence, type TextDetector } from './registry.js';

export interface LanguageDetectorLanguages {
  /** Language tags that the detector must know. */
  expectedInputLanguages?: readonly string[];
}

export interface LanguageDetectorCreateOptions extends LanguageDetectorLanguages, CreateOptions {}

export interface LanguageDetectionResult {
  /** A language tag; 'und' for none of the languages before it in the results. */
  detectedLanguage: string;
  /** From 0 to 1; all results together sum to 1. */
  confidence: number;
}

/** The expected languages, each once; null if none were given. */
function languagesOf(options: LanguageDetectorLanguages | undefined): string[] | null {
  checkActive();
  const given = options?.expectedInputLanguages;
  if (given === undefined) return null;
  const tags = Array.from(given, (tag) => canonicalTag(tag, 'a language'));
  return tags.length > 0 ? [...new Set(tags)] : null;
}

/** The detector's languages that match the expected ones; undefined if one has no match. */
function served(wanted: string[] | null, known: readonly string[] | undefined): string[] | null | undefined {
  if (!wanted || !known) return wanted;
  const found = wanted.map((tag) => bestFit(known, tag));
  return found.every((tag) => tag !== undefined) ? [...new Set(found)] : undefined;
}

/** Results that together reach this confidence are enough: the rest is noise. */
const enough = 0.99;

/** The results in the order of the standard, which ends with 'und'. */
function resultsOf(found: readonly LanguageConfidence[]): LanguageDetectionResult[] {
  const known = found.filter(({ language, confidence }) => language !== 'und' && confidence > 0);
  const unknown = 1 - known.reduce((sum, { confidence }) => sum + confidence, 0);
  const results: LanguageDetectionResult[] = [];
  let sum = 0;
  for (const { language, confidence } of known.sort((a, b) => b.confidence - a.confidence)) {
    if (confidence < unknown || sum >= enough) break;
    // No model is wholly sure: 'und' is above 0.
    const most = Math.min(confidence, 1 - Number.EPSILON - sum);
    results.push({ detectedLanguage: canonicalTag(language, 'a language'), confidence: most });
    sum += most;
  }
  return [...results, { detectedLanguage: 'und', confidence: 1 - sum }];
}

/** Detects the languages of texts. */
export class LanguageDetector extends Destroyable {
  /** null if none were given. */
  readonly expectedInputLanguages: readonly string[] | null;
  #model: TextDetector;

  /** @hidden */
  constructor(
    given: symbol, languages: readonly string[] | null, inputQuota: number, model: TextDetector, free: () => void,
  ) {
    super(given, inputQuota, free);
    this.expectedInputLanguages = languages && Object.freeze([...languages]);
    this.#model = model;
  }

  get [Symbol.toStringTag](): string {
    return 'LanguageDetector';
  }

  /**
   * Whether create() can make a LanguageDetector, and whether that needs a download.
   * @throws RangeError if a language is no language tag
   */
  static async availability(options?: LanguageDetectorLanguages): Promise<Availability> {
    const wanted = languagesOf(options);
    const native = await nativeFor('LanguageDetector', LanguageDetector, options);
    if (native) return native.availability(options) as Promise<Availability>;
    const entry = registeredDetector();
    return entry && served(wanted, entry.languages) !== undefined ? entry.availability() : 'unavailable';
  }

  /**
   * Loads the registered detector, unless it is loaded already.
   * @throws NotSupportedError if there is none, or it does not know an expected language; others as Translator.create()
   */
  static async create(options?: LanguageDetectorCreateOptions): Promise<LanguageDetector> {
    const wanted = languagesOf(options);
    const native = await nativeFor('LanguageDetector', LanguageDetector, options);
    if (native) return native.create(options) as Promise<LanguageDetector>;
    const entry = registeredDetector();
    const found = entry && served(wanted, entry.languages) !== undefined ? entry : undefined;
    return createWith<TextDetector, LanguageDetector>(options, () => found, (model, free) => {
      const languages = served(wanted, entry!.languages ?? model!.languages);
      if (languages === undefined) throw domError('NotSupportedError', 'the detector does not know these languages');
      return new LanguageDetector(key, languages, entry!.inputQuota, model!, free);
    });
  }

  /**
   * The likely languages of a text, the likeliest first, and then 'und'.
   * @throws as Translator.translate()
   */
  detect(input: string, options?: CallOptions): Promise<LanguageDetectionResult[]> {
    return this.run(input, options, async (text, signal) => {
      await this.checkQuota(text, signal);
      return resultsOf(hasNoWords(text) ? [] : await this.#model.detect(text, { signal }));
    });
  }

  /** @internal */
  protected override async usage(text: string): Promise<number> {
    return text.length;
  }
}
