// Translates texts that come one after the other, with a bounded number in flight.
import { callback, checked, isObject, show, signal, whole, type Rules } from '../shared/options.js';
import type { IndexedTranslation, TranslateAllOptions, Translation } from '../shared/types.js';

type AllOptions = Pick<TranslateAllOptions, 'batchSize' | 'start' | 'onError' | 'signal'>;
type Texts = AsyncIterable<string> | Iterable<string>;
type Translate = (texts: string[], signal: AbortSignal) => Promise<Translation[]>;

const rules: Rules<AllOptions> = { batchSize: whole(1), start: whole(0), onError: callback, signal };

export function checkAll(texts: unknown, options: AllOptions): AllOptions {
  if (!isObject(texts) || !(Symbol.asyncIterator in texts || Symbol.iterator in texts)) {
    throw new TypeError(`[translate] translateAll() takes an iterable of texts, not ${show(texts)}`);
  }
  return checked<AllOptions>('translate', rules, options);
}

export async function *translateAll(
  texts: Texts, translate: Translate, { batchSize = 32, start = 0, onError, signal }: AllOptions,
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
  let isOver = false;
  const next = async () => {
    const batch: string[] = [];
    while (batch.length < batchSize && !isOver) {
      const { done, value } = await unlessAborted(source.next());
      if (done) isOver = true;
      else if (read++ >= start) batch.push(value);
    }
    const results = batch.length > 0 ? translate(batch, stop.signal) : undefined;
    results?.catch(() => {}); // it is awaited when its turn comes
    return results && { batch, first: read - batch.length, results };
  };
  try {
    let ahead = next();
    for (let now = await ahead; now; now = await ahead) {
      ahead = next();
      ahead.catch(() => {});
      const { batch, first } = now;
      const all = await now.results.catch(() => undefined);
      for (const [i, text] of batch.entries()) {
        stop.signal.throwIfAborted();
        try {
          // One text that cannot be translated takes no others with it.
          const [translation] = all ? [all[i]!] : await translate([text], stop.signal);
          yield Object.assign(translation!, { index: first + i });
        } catch (error) {
          if (!(error instanceof Error) || stop.signal.aborted) throw error;
          error.message = `text ${first + i}: ${error.message.replace('sentence 1 has', 'the sentence has')}`;
          if (!onError) throw error;
          onError(error, first + i);
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
