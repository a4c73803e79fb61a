// A translator that blocks, as the worker uses it; sync-translator.ts adds what is for programs.
import type { Translator } from '../generated/module.js';
import { version } from '../generated/version.js';
import { checkTokenize, checkTranslate, isObject, toJson, wellFormed } from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import { withKeptRanges } from '../shared/keep.js';
import { dispose } from '../shared/platform.js';
import { tidy, withMaps } from '../shared/results.js';
import type { SourceToken, TokenizeOptions, TranslateOptions, Translation, TranslatorInfo } from '../shared/types.js';
import { Model } from './inference.js';
import { Learning } from './learning.js';
import type { Instance } from './instance.js';
import { scalesWholeBatches } from './model-header.js';

/** Only a Translator can be aborted or compute `alignment` and `quality`. */
export type SyncOptions<Text> = Omit<TranslateOptions<Text>, 'signal' | 'alignment' | 'quality'>;

export type SyncTokenizeOptions = Omit<TokenizeOptions, 'signal'>;

/** Translates sentences, and blocks until it is done. */
export class WorkerTranslator extends Model<Translator> {
  readonly info: TranslatorInfo;
  /** @internal Called by dispose(). */
  onDispose = () => {};

  /** @internal */
  constructor(instance: Instance, native: Translator, file: Uint8Array) {
    super(instance, native, !scalesWholeBatches(file));
    const info = instance.call(() => native.info());
    tidy(info);
    const precision = info.precision as TranslatorInfo['precision'];
    const { build, threads } = instance;
    this.info = { ...info, precision, bytes: file.byteLength, version, build, threads };
  }

  /**
   * Like Translator.translate, but without the option signal, since nothing could abort it meanwhile.
   * @throws when an option is unknown or impossible, or a text is longer than the model allows
   */
  translate(text: string, options?: SyncOptions<string>): Translation;
  translate(text: readonly string[], options?: SyncOptions<string[]>): Translation[];
  translate(text: string | readonly string[], options: object = {}): Translation | Translation[] {
    if (isObject(options) && 'signal' in options) throw new WasmformerError('translate', 'signal cannot abort a call that blocks; use a Translator');
    const { texts, search, onPartial } = checkTranslate(text, withKeptRanges(text, options));
    const isOne = typeof text === 'string';
    const steps = this.steps(texts, search, onPartial !== undefined);
    try {
      let step = steps.next();
      for (; !step.done; step = steps.next()) if (step.value) onPartial?.(isOne ? step.value[0]! : step.value);
      tidy(step.value);
      const translations = withMaps<Translation>(step.value);
      return isOne ? translations[0]! : translations;
    } finally {
      steps.return([]);
    }
  }

  /**
   * Like Translator.tokenize, without the option signal.
   * @throws when an option is unknown or impossible
   */
  tokenize(text: string, options?: SyncTokenizeOptions): SourceToken[];
  tokenize(text: readonly string[], options?: SyncTokenizeOptions): SourceToken[][];
  tokenize(text: string | readonly string[], options: SyncTokenizeOptions = {}): SourceToken[] | SourceToken[][] {
    const tokens = this.#tokensOf(text, options);
    return typeof text === 'string' ? tokens[0]! : tokens;
  }

  /**
   * The number of tokens that tokenize() returns.
   * @throws when an option is unknown or impossible
   */
  countTokens(text: string, options?: SyncTokenizeOptions): number;
  countTokens(text: readonly string[], options?: SyncTokenizeOptions): number[];
  countTokens(text: string | readonly string[], options: SyncTokenizeOptions = {}): number | number[] {
    const counts = this.#tokensOf(text, options).map(({ length }) => length);
    return typeof text === 'string' ? counts[0]! : counts;
  }

  #tokensOf(text: string | readonly string[], options: object) {
    if (isObject(options) && 'signal' in options) throw new WasmformerError('tokenize', 'signal cannot abort a call that blocks; use a Translator');
    const { texts, ...rest } = checkTokenize(text, options);
    return this.tokensOf(texts, toJson(withKeptRanges(texts, rest) as object));
  }

  /** @internal `options`: JSON. */
  tokensOf(texts: readonly string[], options: string): SourceToken[][] {
    return this.instance.call(() => this.native.tokenize(texts.map(wellFormed), options));
  }

  /** @internal A copy that learns; to be disposed of by itself. */
  learning(): Learning {
    return new Learning(this.instance, this.instance.create(() => this.instance.module.learner(this.native)));
  }

  override dispose(): void {
    super.dispose();
    this.onDispose();
  }

  [dispose](): void {
    this.dispose();
  }
}
