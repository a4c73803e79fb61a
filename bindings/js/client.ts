/// <reference lib="esnext.disposable" preserve="true" />
import { Connection } from './connection.js';
import { checkLoadOptions, checkTranslate } from './options.js';
import type { Update } from './protocol.js';
import { fromPlain } from './results.js';
import { cacheOption, modelData } from './source.js';
import { threadCount } from './threads.js';
import type { LoadOptions, ModelSource, TranslateOptions, Translation, TranslatorInfo } from './types.js';

// Node 20 may not have it yet.
const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

let abandoned: FinalizationRegistry<Connection> | undefined;

/** Translates with one model, in a worker of its own. */
export class Translator {
  readonly info: TranslatorInfo;
  #connection: Connection;

  private constructor(info: TranslatorInfo, connection: Connection) {
    this.info = info;
    this.#connection = connection;
    // The last net, for a translator that is forgotten without dispose().
    abandoned ??= new FinalizationRegistry((open) => open.close('[translator] it is not in use any more'));
    abandoned.register(this, connection, this);
  }

  /**
   * Loads a model file and starts a worker for it.
   * @throws when an option is not known or not possible, the model cannot be fetched, or is not a model file
   */
  static async load(model: ModelSource, options: LoadOptions = {}): Promise<Translator> {
    const site = new Error();
    const { onProgress, signal, threads: wanted = 'auto', cache, integrity } = checkLoadOptions(options);
    const data = modelData(model);
    const threads = await threadCount(wanted);
    const question = {
      type: 'load' as const,
      model: data,
      threads,
      isThreadsLimit: wanted === 'auto',
      cache: cacheOption(data, cache),
      integrity,
    };
    const transfer = data.kind === 'bytes' ? [data.bytes.buffer] : [];
    signal?.throwIfAborted();
    const connection = await Connection.open();
    try {
      const onUpdate = (update: Update) => update.type === 'progress' && onProgress?.(update.loaded, update.total);
      const { info } = await connection.call(question, site, { signal, onUpdate, transfer });
      return new Translator(info, connection);
    } catch (error) {
      connection.close('[load] no model was loaded');
      throw error;
    }
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
    const site = new Error();
    const { texts, search, onToken, signal } = checkTranslate(text, options);
    const isOne = typeof text === 'string';
    const onUpdate = (update: Update) =>
      update.type === 'partial' && onToken?.(isOne ? update.texts[0]! : update.texts);
    const question = { type: 'translate' as const, texts, options: search, partials: onToken !== undefined };
    const reply = await this.#connection.call(question, site, { signal, onUpdate, owner: this });
    const translations = reply.translations.map(fromPlain);
    return isOne ? translations[0]! : translations;
  }

  /** Ends the worker and frees its memory; calls that wait are rejected. May be called again. */
  dispose(): void {
    abandoned?.unregister(this);
    this.#connection.close('[translator] it has been disposed of');
  }

  [dispose](): void {
    this.dispose();
  }
}
