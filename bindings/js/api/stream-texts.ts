// Translates texts that come one after the other, with a bounded number in flight.
import { onAbort } from '../shared/aborting.js';
import { callback, checked, isObject, show, signal, whole, type Rules } from '../shared/checks.js';
import { ofText, WasmformerError, WasmformerTypeError } from '../shared/errors.js';
import type { IndexedTranslation, TranslateAllOptions, Translation } from '../shared/types.js';

type AllOptions = Pick<TranslateAllOptions, 'batchSize' | 'startIndex' | 'onError' | 'signal'>;
type Texts = AsyncIterable<string> | Iterable<string>;
/** One per worker; they take turns with the batches. */
type Translate = (texts: string[], signal: AbortSignal, first: number) => Promise<Translation[]>;

const rules: Rules<AllOptions> = { batchSize: whole(1), startIndex: whole(0), onError: callback, signal };

export function checkAll(texts: unknown, options: AllOptions): AllOptions {
  if (!isObject(texts) || !(Symbol.asyncIterator in texts || Symbol.iterator in texts)) {
    throw new WasmformerTypeError('translate', `translateAll() takes an iterable of texts, not ${show(texts)}`);
  }
  return checked<AllOptions>('translate', rules, options);
}

/** Waits that end when the signal aborts. */
class Waits {
  #signal: AbortSignal;
  #giveUp: (reason: unknown) => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#giveUp(signal.reason));
  }

  /** A new promise for each wait: what races with a longer-lived promise is kept as long as that one. */
  for<T>(given: T | PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#giveUp = reject;
      if (this.#signal.aborted) reject(this.#signal.reason);
      Promise.resolve(given).then(resolve, reject);
    });
  }
}

/** Texts that are translated together. `first`: the index of the first one. */
interface Batch {
  texts: string[];
  first: number;
  translate: Translate;
  results: Promise<Translation[]>;
}

/** Reads the texts and begins their translation, a batch at a time, one worker after the other. */
class BatchReader {
  #source: AsyncIterator<string> | Iterator<string>;
  #workers: readonly Translate[];
  #stop: AbortSignal;
  #waits: Waits;
  #sizeOf: (batch: number) => number;
  #startIndex: number;
  #read = 0;
  #batches = 0;
  #isOver = false;
  #ahead: Promise<Batch | undefined>[] = [];

  /** `sizeOf`: how many texts a batch has, by its number, from 0. */
  constructor(
    texts: Texts,
    workers: readonly Translate[],
    stop: AbortSignal,
    sizeOf: (batch: number) => number,
    startIndex: number,
  ) {
    this.#source = Symbol.asyncIterator in texts ? texts[Symbol.asyncIterator]() : texts[Symbol.iterator]();
    this.#workers = workers;
    this.#stop = stop;
    this.#waits = new Waits(stop);
    this.#sizeOf = sizeOf;
    this.#startIndex = startIndex;
  }

  /** Begins one more batch, behind those that are read already: the source is asked for one at a time. */
  readOn(): void {
    const after = this.#ahead.at(-1);
    const batch = after ? after.then(() => this.#begin()) : this.#begin();
    batch.catch(() => {}); // it is awaited when its turn comes
    this.#ahead.push(batch);
  }

  /** The next batch; undefined behind the last one. */
  next(): Promise<Batch | undefined> | undefined {
    return this.#ahead.shift();
  }

  /** Not awaited: a source that waits for its next text would answer after that. */
  close(): void {
    if (!this.#isOver) void Promise.resolve(this.#source.return?.()).catch(() => {});
  }

  async #begin(): Promise<Batch | undefined> {
    const texts: string[] = [];
    const size = this.#sizeOf(this.#batches);
    while (texts.length < size && !this.#isOver) {
      const { done, value } = await this.#waits.for(this.#source.next());
      if (done) this.#isOver = true;
      else if (this.#read++ >= this.#startIndex) texts.push(value);
    }
    if (texts.length === 0) return undefined;
    const translate = this.#workers[this.#batches++ % this.#workers.length]!;
    const first = this.#read - texts.length;
    const results = translate(texts, this.#stop, first);
    results.catch(() => {}); // it is awaited when its turn comes
    return { texts, first, translate, results };
  }
}

/** The translations of a batch; one text that cannot be translated does not affect others. */
async function *resultsOf(
  { texts, first, translate, results }: Batch, stop: AbortSignal, onError: AllOptions['onError'],
): AsyncGenerator<IndexedTranslation, void, undefined> {
  const all = await results.catch(() => undefined);
  for (const [i, text] of texts.entries()) {
    stop.throwIfAborted();
    try {
      const [translation] = all ? [all[i]!] : await translate([text], stop, first + i);
      yield Object.assign(translation!, { index: first + i });
    } catch (error) {
      if (!(error instanceof WasmformerError) || stop.aborted) throw error;
      const named = ofText(error, first + i + 1); // messages count from 1, as those of translate()
      if (!onError) throw named;
      onError(named, first + i);
    }
  }
}

/** `isGrowing`: the first batch of each worker has one text, and later ones twice as many as those before. */
export async function *translateAll(
  texts: Texts, workers: readonly Translate[], { batchSize = 32, startIndex = 0, onError, signal }: AllOptions,
  isGrowing = false,
): AsyncGenerator<IndexedTranslation, void, undefined> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const stopListening = onAbort(signal, () => stop.abort(signal!.reason));
  const sizeOf = (batch: number) =>
    isGrowing ? Math.min(batchSize, 2 ** Math.floor(batch / workers.length)) : batchSize;
  const reader = new BatchReader(texts, workers, stop.signal, sizeOf, startIndex);
  try {
    for (const _ of workers) reader.readOn();
    for (let batch = await reader.next(); batch; batch = await reader.next()) {
      reader.readOn();
      yield* resultsOf(batch, stop.signal, onError);
    }
  } finally {
    stopListening();
    stop.abort();
    reader.close();
  }
}
