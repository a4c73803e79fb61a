// Translator, as the Translator API of the W3C's community group has it.
import { asDomError, checkActive } from './errors.js';
import { createWith, Destroyable, inputOf, key, type CallOptions, type CreateOptions } from './destroyable.js';
import { canonicalTag, hasNoWords, isSameLanguage } from './languages.js';
import { nativeFor } from './native.js';
import { pairFor, type Availability, type TextTranslator } from './registry.js';

export interface TranslatorLanguages {
  /** A language tag, such as 'de'. */
  sourceLanguage: string;
  targetLanguage: string;
}

export interface TranslatorCreateOptions extends TranslatorLanguages, CreateOptions {}

function languagesOf(options: TranslatorLanguages): TranslatorLanguages {
  checkActive();
  return {
    sourceLanguage: canonicalTag(options?.sourceLanguage, 'sourceLanguage'),
    targetLanguage: canonicalTag(options?.targetLanguage, 'targetLanguage'),
  };
}

/** Translates texts of any length from one language into another. */
export class Translator extends Destroyable {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  /** None if the text itself is the translation. */
  #model: TextTranslator | undefined;

  /** @hidden */
  constructor(
    given: symbol,
    languages: TranslatorLanguages,
    inputQuota: number,
    model: TextTranslator | undefined,
    free: () => void,
  ) {
    super(given, inputQuota, free);
    this.sourceLanguage = languages.sourceLanguage;
    this.targetLanguage = languages.targetLanguage;
    this.#model = model;
  }

  get [Symbol.toStringTag](): string {
    return 'Translator';
  }

  /**
   * Whether create() can make a Translator, and whether that needs a download.
   * @throws TypeError if a language is missing, RangeError if it is no language tag
   */
  static async availability(options: TranslatorLanguages): Promise<Availability> {
    const languages = languagesOf(options);
    const native = await nativeFor('Translator', Translator, languages);
    if (native) return native.availability(languages) as Promise<Availability>;
    const pair = pairFor(languages);
    if (pair) return pair.availability();
    return isSameLanguage(languages.sourceLanguage, languages.targetLanguage) ? 'available' : 'unavailable';
  }

  /**
   * Loads the registered model that serves these languages best, unless it is loaded already.
   * @throws NotSupportedError if there is none; TypeError, RangeError as availability(); NetworkError if the download
   * fails; OperationError if the model cannot be started; NotAllowedError if `userActivation` is set; the reason of the
   * signal; what `monitor` throws
   */
  static async create(options: TranslatorCreateOptions): Promise<Translator> {
    const languages = languagesOf(options);
    const native = await nativeFor('Translator', Translator, languages);
    if (native) return native.create(options) as Promise<Translator>;
    const pair = pairFor(languages);
    const isIdentity = isSameLanguage(languages.sourceLanguage, languages.targetLanguage);
    const served = pair ? { sourceLanguage: pair.source, targetLanguage: pair.target } : languages;
    return createWith<TextTranslator, Translator>(options, () => pair ?? (isIdentity ? 'identity' : undefined),
      (model, free) => new Translator(key, served, pair?.inputQuota ?? Infinity, model, free));
  }

  /**
   * The translation of a text. A text of only white space and control characters is returned unchanged.
   * @throws QuotaExceededError if the text is longer than `inputQuota` allows; UnknownError; the reason of the signal;
   * AbortError if this object has been destroyed
   */
  translate(input: string, options?: CallOptions): Promise<string> {
    return this.run(input, options, async (text, signal) => {
      await this.checkQuota(text, signal);
      if (!this.#model || hasNoWords(text)) return text;
      return (await this.#model.translateText(text, { signal })).text;
    });
  }

  /**
   * The translation of a text, sentence by sentence: the parts, joined, are what translate() returns. The stream fails
   * as translate() does; a signal that has aborted already throws at once.
   */
  translateStreaming(input: string, options?: CallOptions): ReadableStream<string> {
    checkActive();
    const text = inputOf(input);
    const { signal, abort, free } = this.scope(options);
    signal.throwIfAborted();
    const parts = this.#parts(text, signal);
    return new ReadableStream<string>({
      start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
      async pull(controller) {
        try {
          const { done, value } = await parts.next();
          if (!done) return controller.enqueue(value);
          free();
          controller.close();
        } catch (error) {
          free();
          controller.error(asDomError(error, 'UnknownError'));
        }
      },
      cancel(reason) {
        free();
        abort(reason);
      },
    });
  }

  async *#parts(text: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    await this.checkQuota(text, signal);
    if (!this.#model || hasNoWords(text)) {
      if (text !== '') yield text;
    } else if (this.#model.streamText) {
      for await (const part of this.#model.streamText(text, { signal })) if (part.text !== '') yield part.text;
    } else {
      yield (await this.#model.translateText(text, { signal })).text;
    }
  }

  /** @internal */
  protected override async usage(text: string, signal: AbortSignal): Promise<number> {
    return this.#model?.countTokens?.(text, { signal }) ?? text.length;
  }
}
