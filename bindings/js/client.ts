import type { Connection } from './connection.js';
import { checkLoadOptions } from './options.js';
import type { LoadRequest, Update } from './protocol.js';
import { cacheOption, modelData } from './source.js';
import { dispose } from './symbol.js';
import { adopt, begin, closeNow, tell, translateOver } from './translating.js';
import type {
  LoadOptions,
  ModelSource,
  StreamOptions,
  TranslateOptions,
  Translation,
  TranslatorInfo,
} from './types.js';

/** Translates with one model, in a worker. */
export class Translator {
  readonly info: TranslatorInfo;
  #connection: Connection;

  private constructor(info: TranslatorInfo, connection: Connection) {
    this.info = info;
    this.#connection = connection;
    adopt(this, connection);
  }

  /**
   * Loads a model file and starts a worker for it.
   * @throws when an option is not known or not possible, the model cannot be fetched, or is not a model file
   */
  static async load(model: ModelSource, options: LoadOptions = {}): Promise<Translator> {
    const site = new Error();
    const { onProgress, signal, threads, shareWith, cache, integrity } = checkLoadOptions(options);
    const data = modelData(model);
    const request = { type: 'load' as const, model: data, cache: cacheOption(data, cache), integrity };
    const onUpdate = (update: Update) => update.type === 'progress' && onProgress?.(update.loaded, update.total);
    const where = { threads, shareWith };
    const { connection, info } = await begin<LoadRequest>('translator', request, where, { signal, onUpdate }, site);
    return new Translator(info, connection);
  }

  /**
   * Translates one text or several, together. Calls made at the same time take turns.
   * @throws when an option is not known or not possible, or a text is longer than the model allows
   */
  translate(text: string, options?: TranslateOptions<string>): Promise<Translation>;
  translate(text: readonly string[], options?: TranslateOptions<string[]>): Promise<Translation[]>;
  async translate(
    text: string | readonly string[],
    options: TranslateOptions<string> | TranslateOptions<string[]> = {},
  ): Promise<Translation | Translation[]> {
    return translateOver(this.#connection, this, text, options, new Error());
  }

  /**
   * Translates, and tells the best text so far after each step; the generator returns the Translation. Leaving the loop
   * ends the work.
   * @throws as translate does
   */
  stream(text: string, options?: StreamOptions): AsyncGenerator<string, Translation, undefined>;
  stream(text: readonly string[], options?: StreamOptions): AsyncGenerator<string[], Translation[], undefined>;
  stream(
    text: string | readonly string[],
    options: StreamOptions = {},
  ): AsyncGenerator<string | string[], Translation | Translation[], undefined> {
    const site = new Error();
    if ('onToken' in options) throw new TypeError("[translate] stream() has no option 'onToken'; its loop takes the texts");
    const work = (onToken: (partial: string | string[]) => void, signal: AbortSignal) =>
      translateOver(this.#connection, this, text, { ...options, signal, onToken }, site);
    return tell(work, options.signal);
  }

  /** Frees the model, and ends the worker with its last one; calls that wait are rejected. May be called again. */
  dispose(): void {
    closeNow(this, this.#connection);
  }

  [dispose](): void {
    this.dispose();
  }
}
