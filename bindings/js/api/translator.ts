// Models in a worker: what they have in common, and the Translator.
import { onAbort } from '../shared/aborting.js';
import {
  checkAnnotate, checkTokenize, checkTranslate, takeAligned, takeHtml, toJson, withNewNames, withoutPartial,
} from '../shared/checks.js';
import { WasmformerTypeError } from '../shared/errors.js';
import { dispose } from '../shared/platform.js';
import type { Result, Start, Update, Use, Wanted } from '../shared/protocol.js';
import { withMaps } from '../shared/results.js';
import type { HtmlTranslation, SentenceTranslator } from '../shared/webpage-types.js';
import { withKeptRanges } from '../shared/keep.js';
import { joinSentence } from '../shared/sentences.js';
import { sourcesOf, translatedText, wholeText, type WholeText } from '../shared/whole-text.js';
import type {
  AnnotateMethod, AnnotateOptions, Annotation, EncoderInfo, Estimate, IndexedTranslation, LoadOptions, ModelSource,
  SourceToken, StreamedSentence, StreamOptions, StreamTextOptions, TextTranslation, TokenizeOptions,
  TranslateAllOptions, TranslateOptions, Translation, TranslatorInfo, WorkerOptions, WorkerOwner,
} from '../shared/types.js';
import { checkAll, translateAll } from './stream-texts.js';
import { Connection, connections, disposed, type CallOptions } from './connection.js';
import { checkFiles, checkLoad, modelData } from './arguments.js';
import { storingOf, transferOf } from './storing.js';
import { threadCount } from './threads.js';

/** A model in a worker: what all classes of this package have in common. */
export abstract class RemoteModel<Info> {
  /** Properties of the model, as of when it was loaded or when the run began. */
  readonly info: Info;
  #connection: Connection;

  /** @hidden Without the types of the package's inside. */
  protected constructor(...inside: never);
  /** @internal */
  protected constructor(info: Info, connection: Connection);
  protected constructor(info: Info, connection: Connection) {
    this.info = info;
    this.#connection = connection;
    connections.set(this, connection);
    registry ??= new FinalizationRegistry((open) => open.close(disposed('it is no longer in use')));
    registry.register(this, connection, this);
  }

  /** Frees the model, and ends the worker with its last one; pending calls are rejected. May be called again. */
  dispose(): void {
    registry?.unregister(this);
    this.connection.close(disposed('it has been disposed of'));
  }

  [dispose](): void {
    this.dispose();
  }

  /** @internal */
  protected get connection(): Connection {
    return this.#connection;
  }

  /** @internal The method of this name. */
  protected annotator<Found extends Annotation>(use: 'classify' | 'tag') {
    const annotate = async (text: string | readonly string[], options: AnnotateOptions = {}) => {
      const site = new Error();
      const { texts, search, signal } = checkAnnotate(use, text, options);
      const wanted = { texts, options: search, use };
      const found = withMaps<Annotation>(await this.connection.call('annotate', wanted, site, { signal, owner: this }));
      return typeof text === 'string' ? found[0] : found;
    };
    return annotate as AnnotateMethod<Found>;
  }
}

/** A model that translates: what Translator and Trainer have in common. */
export abstract class RemoteTranslator<Info extends { metadata?: Record<string, string> }> extends RemoteModel<Info> {
  /**
   * Translates one text or several, together; a Trainer does so with its current weights, between two steps of run().
   * Each text is one sentence: translateText() splits longer ones. Calls made at the same time take turns; those that
   * wait and have equal options are computed together, and each gets what it would get alone. Calls may end in another
   * order than they were made in.
   * With `html: true` the text is markup, a page or a part of one: its sentences are translated, and tags stay around
   * the words that they belong to. Options about one sentence, such as onPartial, are refused then.
   * @throws when an option is unknown or impossible, or a text is longer than the model allows
   */
  translate(html: string, options: TranslateOptions & { html: true }): Promise<HtmlTranslation>;
  translate(text: string, options?: TranslateOptions<string>): Promise<Translation>;
  translate(text: readonly string[], options?: TranslateOptions<string[]>): Promise<Translation[]>;
  translate(text: string | readonly string[], options?: StreamOptions): Promise<Translation | Translation[]>;
  async translate(
    text: string | readonly string[],
    options: (TranslateOptions<string> | TranslateOptions<string[]>) & { html?: boolean } = {},
  ): Promise<Translation | Translation[] | HtmlTranslation> {
    const site = new Error();
    const { html, rest } = takeHtml(options);
    if (html) return (await import('../webpages/html.js')).translateHtml(text, this as unknown as SentenceTranslator, rest);
    return this.translateFrom(site, text, rest);
  }

  /** @internal `site` was made by the caller, for its stack; `first`: how many texts come before these, for messages. */
  protected translateFrom(
    site: Error, text: readonly string[], options: TranslateOptions<string[]>, first?: number,
  ): Promise<Translation[]>;
  /** @internal */
  protected translateFrom(
    site: Error,
    text: string | readonly string[],
    options: TranslateOptions<string> | TranslateOptions<string[]>,
  ): Promise<Translation | Translation[]>;
  protected async translateFrom(
    site: Error,
    text: string | readonly string[],
    options: TranslateOptions<string> | TranslateOptions<string[]>,
    first = 0,
  ): Promise<Translation | Translation[]> {
    const { aligned, rest } = takeAligned(options);
    const { texts, search, onPartial, signal } = checkTranslate(text, withKeptRanges(text, rest), first);
    const isOne = typeof text === 'string';
    const onUpdate = (update: Update) => update.type === 'partial' && onPartial?.(isOne ? update.texts[0]! : update.texts);
    const wanted = { texts, options: search, partials: onPartial !== undefined, first };
    const plain = await this.connection.call('translate', wanted, site, { signal, onUpdate, owner: this });
    const translations = withMaps<Translation>(plain);
    if (aligned.alignment || aligned.quality) {
      const { addTo } = await import('../shared/alignment.js');
      addTo(translations, texts, aligned, options.attention === true, this.info.metadata ?? {});
    }
    return isOne ? translations[0]! : translations;
  }
}

/**
 * Translates with one model, in a worker.
 * @example
 * const translator = await Translator.load('de-en');
 * console.log((await translator.translate('Wo ist mein Buch?')).text);
 * translator.dispose();
 */
export class Translator extends RemoteTranslator<TranslatorInfo> {
  /**
   * Loads a model file and starts a worker for it.
   * @throws when an option is unknown or impossible, the model cannot be fetched, or is not the file of a translator
   */
  static async load(model: ModelSource, options: LoadOptions = {}): Promise<Translator> {
    return load('translate', model, options, new Error(), (...made) => new Translator(...made));
  }

  /**
   * Estimates what load() with the same options would download.
   * @throws as load does, if the model cannot be found
   */
  static async estimate(model: ModelSource, options: Omit<LoadOptions, 'onProgress'> = {}): Promise<Estimate> {
    const site = new Error();
    const { hubURL, modelsURL, precision, requestInit, ...given } = checkLoad(options);
    const { signal, cache, cacheLimit: _, integrity, ...files } = given;
    const data = modelData(model, { hubURL, modelsURL, precision, requestInit });
    if (data.kind === 'bytes' || data.kind === 'blob') return { download: 0, isStored: true };
    const { settings, end } = storingOf(data, { cache });
    const wanted = { model: data, cache: settings, integrity };
    const transfer = transferOf(undefined, settings);
    return Connection.once('estimate', wanted, site, { signal, transfer }, checkFiles(files)).finally(end);
  }

  /**
   * Translates a text of any number of sentences, one by one, and keeps the white space between them. A sentence ends
   * as Intl.Segmenter says, or after 500 characters.
   * @throws as translate does
   */
  async translateText(text: string, options: StreamOptions = {}): Promise<TextTranslation> {
    const site = new Error();
    const whole = wholeText(text, this.info);
    return translatedText(whole, await this.translateFrom(site, sourcesOf(whole), withoutPartial('translateText', options)));
  }

  /**
   * Translates texts in the order in which they come, and yields each translation with its index. It reads ahead
   * at most one batch per translator plus one more, so a slow loop makes the source wait. Leaving the loop stops the
   * work and closes the source.
   * @throws as translate does, naming the text by its position counted from 1, unless there is `onError`
   */
  translateAll(
    texts: AsyncIterable<string> | Iterable<string>,
    options: TranslateAllOptions = {},
  ): AsyncGenerator<IndexedTranslation, void, undefined> {
    const named = withNewNames('translate', { others: 'workers', start: 'startIndex' }, withoutPartial('translateAll', options));
    const { batchSize, startIndex, onError, signal, workers, ...search } = named;
    const given = checkAll(texts, { batchSize, startIndex, onError, signal });
    return translateAll(texts, this.#withWorkers(workers, search, new Error()), given);
  }

  /**
   * Translates a text of any length as translateText does, and yields each sentence as soon as it and those before it
   * are translated. It keeps the translations of at most two batches, plus one for each of `workers`, so a slow loop makes
   * the work wait. Leaving the loop stops it.
   * @throws as translate does, naming the sentence by its position counted from 1
   */
  streamText(text: string, options: StreamTextOptions = {}): AsyncGenerator<StreamedSentence, void, undefined> {
    const whole = wholeText(text, this.info);
    const { batchSize = 16, signal, workers, ...search } = withoutPartial('streamText', options);
    const sources = sourcesOf(whole);
    const given = checkAll(sources, { batchSize, signal });
    const all = translateAll(sources, this.#withWorkers(workers, search, new Error()), given, true);
    return joinedSentences(whole, all);
  }

  /** Functions that translate a batch: one with this translator, and one with each of `workers`. */
  #withWorkers(workers: readonly WorkerOwner[] = [], search: StreamOptions, site: Error) {
    if (!Array.isArray(workers) || !workers.every((worker) => worker instanceof Translator)) {
      throw new WasmformerTypeError('translate', 'workers must be an array of Translators');
    }
    return [this, ...workers as Translator[]].map((translator) =>
      async (some: string[], signal: AbortSignal, first: number) =>
        translator.translateFrom(site, some, { ...search, signal }, first));
  }

  /**
   * The tokens that translate() reads of one text or several, the end token last. Nothing is translated, and a text may
   * have any length: `info.config.max_length` tokens are the most that translate() takes.
   * @throws when an option is unknown or impossible
   */
  tokenize(text: string, options?: TokenizeOptions): Promise<SourceToken[]>;
  tokenize(text: readonly string[], options?: TokenizeOptions): Promise<SourceToken[][]>;
  async tokenize(
    text: string | readonly string[], options: TokenizeOptions = {},
  ): Promise<SourceToken[] | SourceToken[][]> {
    const tokens = await this.#tokensOf('tokenize', text, options, new Error());
    return typeof text === 'string' ? tokens[0]! : tokens;
  }

  /**
   * The number of tokens that tokenize() returns.
   * @throws when an option is unknown or impossible
   */
  countTokens(text: string, options?: TokenizeOptions): Promise<number>;
  countTokens(text: readonly string[], options?: TokenizeOptions): Promise<number[]>;
  async countTokens(text: string | readonly string[], options: TokenizeOptions = {}): Promise<number | number[]> {
    const counts = await this.#tokensOf('countTokens', text, options, new Error());
    return typeof text === 'string' ? counts[0]! : counts;
  }

  /** A group at a time, so that an abort or another call need not wait for all texts. */
  async #tokensOf<What extends 'tokenize' | 'countTokens'>(
    what: What, text: string | readonly string[], options: TokenizeOptions, site: Error,
  ): Promise<Result<What>> {
    const { texts, signal, ...keep } = checkTokenize(text, options);
    signal?.throwIfAborted();
    const results: Result<What>[] = [];
    for (let i = 0; i < texts.length; i += textsTokenizedTogether) {
      const some = texts.slice(i, i + textsTokenizedTogether);
      const wanted = { texts: some, options: toJson(withKeptRanges(some, keep) as object) } as Wanted<What>;
      results.push(await this.connection.call(what, wanted, site, { signal, owner: this }));
    }
    return results.flat() as Result<What>;
  }

  /**
   * Translates, and yields the best text so far after each step; the generator returns the Translation. Leaving the
   * loop ends the work.
   * @throws as translate does
   */
  stream(text: string, options?: StreamOptions): AsyncGenerator<string, Translation, undefined>;
  stream(text: readonly string[], options?: StreamOptions): AsyncGenerator<string[], Translation[], undefined>;
  stream(
    text: string | readonly string[],
    options: StreamOptions = {},
  ): AsyncGenerator<string | string[], Translation | Translation[], undefined> {
    const site = new Error();
    const search = withoutPartial('stream', options);
    const work = (onPartial: (partial: string | string[]) => void, signal: AbortSignal) =>
      this.translateFrom(site, text, { ...search, signal, onPartial });
    return toAsyncGenerator(work, options.signal);
  }
}

const textsTokenizedTogether = 64;

/** The translations of all sentences of a text, with the white space around them. */
async function *joinedSentences(
  { parts, tail, target }: WholeText, all: AsyncIterable<IndexedTranslation>,
): AsyncGenerator<StreamedSentence, void, undefined> {
  const of = parts.length;
  if (of === 0 && tail !== '') yield { text: tail, index: 0, of };
  for await (const { index, ...translation } of all) {
    const part = parts[index]!;
    const text = joinSentence(part, target) + translation.text + (index === of - 1 ? tail : '');
    yield { text, sentence: { begin: part.begin, source: part.source, translation }, index, of };
  }
}

/** Closes the connections of objects that were forgotten without dispose(). */
let registry: FinalizationRegistry<Connection> | undefined;

const tags = { translate: 'translator', classify: 'classifier', tag: 'tagger' } as const;

/**
 * Loads a model file for one use.
 * @internal
 */
export async function load<Model>(
  use: Use,
  model: ModelSource,
  options: LoadOptions,
  site: Error,
  make: (info: EncoderInfo, connection: Connection) => Model,
): Promise<Model> {
  const { hubURL, modelsURL, precision, requestInit, ...given } = checkLoad(options);
  const { onProgress, signal, cache, cacheLimit, integrity, ...where } = given;
  const data = modelData(model, { hubURL, modelsURL, precision, requestInit });
  const { settings, end } = storingOf(data, { cache, cacheLimit });
  const wanted = { model: data, cache: settings, integrity, use };
  const onUpdate = (update: Update) => update.type === 'progress' && onProgress?.(update.loaded, update.total);
  // The module has refused files of another kind.
  const made = (info: TranslatorInfo, connection: Connection) => make(info as EncoderInfo, connection);
  return openModel(tags[use], 'load', wanted, where, { signal, onUpdate }, site, made).finally(end);
}

/**
 * Opens a worker, or takes that of `shareWith`, and makes its first call; closes it again if that fails.
 * @internal
 */
export async function openModel<M extends 'load' | 'train', Model>(
  tag: string,
  method: M,
  wanted: Omit<Wanted<M>, 'threads' | 'isThreadsLimit'> & Pick<Start, 'model'>,
  { threads: wantedThreads = 'auto', maximumMemory, shareWith, ...files }: WorkerOptions,
  { signal, onUpdate }: CallOptions,
  site: Error,
  make: (info: Result<M>, connection: Connection) => Model,
): Promise<Model> {
  const host = shareWith && connections.get(shareWith);
  const threads = host ? 1 : await threadCount(wantedThreads);
  signal?.throwIfAborted();
  const connection = await Connection.open(tag, host, checkFiles(files));
  try {
    // TypeScript cannot add the two again.
    const all = { ...wanted, threads, isThreadsLimit: wantedThreads === 'auto', maximumMemory } as unknown as Wanted<M>;
    const transfer = transferOf(wanted.model, wanted.cache);
    return make(await connection.call(method, all, site, { signal, onUpdate, transfer }), connection);
  } catch (error) {
    connection.close(disposed('it could not be started'));
    throw error;
  }
}

/**
 * Yields what `call` passes to its callback, and returns its result. Leaving the loop or `signal` aborts the call.
 * @internal
 */
export async function *toAsyncGenerator<Item, End>(
  call: (push: (item: Item) => void, signal: AbortSignal) => Promise<End>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item, End, undefined> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const stopListening = onAbort(signal, () => stop.abort(signal!.reason));
  const items: Item[] = [];
  let wake = () => {};
  let isOver = false;
  const push = (item: Item) => {
    items.push(item);
    wake();
  };
  const end = call(push, stop.signal);
  const finish = () => {
    isOver = true;
    wake();
  };
  end.then(finish, finish);
  try {
    for (;;) {
      while (items.length > 0) yield items.shift()!;
      if (isOver) return await end;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stopListening();
    stop.abort();
  }
}
