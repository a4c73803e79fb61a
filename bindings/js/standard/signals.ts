// Waiting that signals can end.
import { onAbort } from '../shared/aborting.js';

/** The result of `given`; if the signal aborts first, its reason is thrown. */
export function until<T>(given: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return Promise.resolve(given);
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    const free = onAbort(signal, abort);
    given.then((value) => {
      free();
      resolve(value);
    }, (error: unknown) => {
      free();
      reject(error);
    });
  });
}

/** A signal that aborts when one of several does. */
export interface EitherSignal {
  signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops following the signals. */
  free(): void;
}

/** AbortSignal.any(), which not all browsers have, but it can be stopped. */
export function either(...signals: (AbortSignal | undefined)[]): EitherSignal {
  const controller = new AbortController();
  const followed = signals.filter((signal) => signal !== undefined).map((signal) => {
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    return onAbort(signal, abort);
  });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    free: () => followed.forEach((unfollow) => unfollow()),
  };
}

/** @throws TypeError if an option that should be a signal is not one */
export function signalOf(options: { signal?: AbortSignal } | undefined): AbortSignal | undefined {
  const signal = options?.signal;
  if (signal === undefined) return undefined;
  if (typeof signal === 'object' && signal !== null && 'aborted' in signal) return signal;
  throw new TypeError('signal must be an AbortSignal');
}
