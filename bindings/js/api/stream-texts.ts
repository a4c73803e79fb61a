// Translates texts that come one after the other, with a bounded number in flight.
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

export async function *translateAll(
  texts: Texts, workers: readonly Translate[], { batchSize = 32, startIndex = 0, onError, signal }: AllOptions,
): AsyncGenerator<IndexedTranslation, void, undefined> {
  signal?.throwIfAborted();
  const source = Symbol.asyncIterator in texts ? texts[Symbol.asyncIterator]() : texts[Symbol.iterator]();
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal!.reason);
  signal?.addEventListener('abort', onAbort);
  // A new promise for each wait: what races with a longer-lived promise is kept as long as that one.
  let giveUp: (reason: unknown) => void = () => {};
  stop.signal.addEventListener('abort', () => giveUp(stop.signal.reason));
  const unlessAborted = <T>(given: T | PromiseLike<T>) => new Promise<T>((resolve, reject) => {
    giveUp = reject;
    if (stop.signal.aborted) reject(stop.signal.reason);
    Promise.resolve(given).then(resolve, reject);
  });
  let read = 0;
  let batches = 0;
  let isOver = false;
  const next = async () => {
    const batch: string[] = [];
    while (batch.length < batchSize && !isOver) {
      const { done, value } = await unlessAborted(source.next());
      if (done) isOver = true;
      else if (read++ >= startIndex) batch.push(value);
    }
    if (batch.length === 0) return undefined;
    const translate = workers[batches++ % workers.length]!;
    const first = read - batch.length;
    const results = translate(batch, stop.signal, first);
    results.catch(() => {}); // it is awaited when its turn comes
    return { batch, first, translate, results };
  };
  const ahead: ReturnType<typeof next>[] = [];
  const readOn = () => {
    const after = ahead.at(-1); // the source is asked for one batch at a time
    const batch = after ? after.then(next) : next();
    batch.catch(() => {});
    ahead.push(batch);
  };
  try {
    for (const _ of workers) readOn();
    for (let now = await ahead.shift(); now; now = await ahead.shift()) {
      readOn();
      const { batch, first, translate } = now;
      const all = await now.results.catch(() => undefined);
      for (const [i, text] of batch.entries()) {
        stop.signal.throwIfAborted();
        try {
          // One text that cannot be translated does not affect others.
          const [translation] = all ? [all[i]!] : await translate([text], stop.signal, first + i);
          yield Object.assign(translation!, { index: first + i });
        } catch (error) {
          if (!(error instanceof WasmformerError) || stop.signal.aborted) throw error;
          const named = ofText(error, first + i + 1); // messages count from 1, as those of translate()
          if (!onError) throw named;
          onError(named, first + i);
        }
      }
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    stop.abort();
    // Not awaited: a source that waits for its next text would answer after that.
    if (!isOver) void Promise.resolve(source.return?.()).catch(() => {});
  }
}
