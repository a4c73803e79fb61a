// Base of the standard's Translator and LanguageDetector: how they are made, used and destroyed.
import { onAbort } from '../shared/aborting.js';
import { asDomError, checkActive, domError, quotaExceeded } from './errors.js';
import { Progress, type CreateMonitor } from './monitor.js';
import type { Entry } from './registry.js';
import { settings } from './settings.js';
import { either, signalOf, until, type EitherSignal } from './signals.js';

export interface CallOptions {
  /** Aborting rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface CreateOptions {
  /** Aborting cancels the download or, later, destroys the created object. */
  signal?: AbortSignal;
  /** Called at once with the object that gets the `downloadprogress` events. */
  monitor?: (monitor: CreateMonitor) => void;
}

/** The proof that create() calls the constructor. */
export const key = Symbol('create');

/** Frees the models of objects that are garbage-collected without destroy(). */
let registry: FinalizationRegistry<() => void> | undefined;

/** Destroys an object; its calls are rejected with `reason`. */
let destroyWith: (one: Destroyable, reason: unknown) => void;

export abstract class Destroyable {
  /** The most that an input may use, as measureInputUsage() counts it; Infinity if there is no limit. */
  readonly inputQuota: number;
  #destruction = new AbortController();
  #free: () => void;

  /** @hidden */
  constructor(given: symbol, inputQuota: number, free: () => void) {
    if (given !== key) throw new TypeError('Illegal constructor; use create()');
    this.inputQuota = inputQuota;
    this.#free = free;
    registry ??= new FinalizationRegistry((free) => free());
    registry.register(this, free, this);
  }

  /** Frees the model unless other objects use it. Pending and later calls are rejected with an AbortError. */
  destroy(): void {
    destroyWith(this, domError('AbortError', 'it has been destroyed'));
  }

  /**
   * How much of `inputQuota` a text would use: tokens of a Translator, UTF-16 units of a LanguageDetector; 0 if there is no
   * limit.
   * @throws the reason of the signal
   */
  measureInputUsage(input: string, options?: CallOptions): Promise<number> {
    return this.run(input, options, (text, signal) => this.measured(text, signal));
  }

  /** @internal */
  protected abstract usage(text: string, signal: AbortSignal): Promise<number>;

  /** @internal */
  protected async measured(text: string, signal: AbortSignal): Promise<number> {
    return this.inputQuota === Infinity ? 0 : this.usage(text, signal);
  }

  /** @internal Throws a QuotaExceededError for a text that is too long. */
  protected async checkQuota(text: string, signal: AbortSignal): Promise<void> {
    const requested = await this.measured(text, signal);
    if (requested > this.inputQuota) throw quotaExceeded(requested, this.inputQuota);
  }

  /** @internal The result of `work`, which ends when the call's signal aborts or this object is destroyed. */
  protected async run<T>(
    input: string, options: CallOptions | undefined, work: (text: string, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    checkActive();
    const text = inputOf(input);
    const { signal, free } = this.scope(options);
    try {
      signal.throwIfAborted();
      return await until(work(text, signal), signal);
    } catch (error) {
      throw asDomError(error, 'UnknownError');
    } finally {
      free();
    }
  }

  /** @internal */
  protected scope(options: CallOptions | undefined): EitherSignal {
    return either(this.#destruction.signal, signalOf(options));
  }

  static {
    destroyWith = (one, reason) => {
      if (one.#destruction.signal.aborted) return;
      one.#destruction.abort(reason);
      registry?.unregister(one);
      one.#free();
    };
  }
}

/** An argument as a string. Throws a TypeError if it is missing. */
export function inputOf(input: unknown): string {
  if (input === undefined) throw new TypeError('the input is missing');
  return String(input);
}

/** Waits for the next task, so that event handlers can abort first. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve));

/** Throws if the browser would not let a page begin a download now. */
async function checkActivation(entry: Entry<object>): Promise<void> {
  const { userActivation } = (globalThis.navigator ?? {}) as { userActivation?: { isActive: boolean } };
  if (!settings.userActivation || !userActivation || userActivation.isActive) return;
  if (await entry.availability() === 'available') return;
  throw domError('NotAllowedError', 'a download must begin with a click or a key');
}

/**
 * The object that `make` makes with a model, or without one if `find` finds that none is needed.
 * @throws NotSupportedError if `find` finds nothing; NetworkError; OperationError if the model cannot be started
 */
export async function createWith<Model extends { dispose?(): void }, Made extends Destroyable>(
  options: CreateOptions | undefined,
  find: () => Entry<Model> | 'identity' | undefined,
  make: (model: Model | undefined, free: () => void) => Made,
): Promise<Made> {
  const signal = signalOf(options);
  signal?.throwIfAborted();
  const progress = new Progress(options?.monitor, signal);
  const found = find();
  if (!found) throw domError('NotSupportedError', 'there is nothing for these languages');
  const entry = found === 'identity' ? undefined : found;
  if (entry) await until(checkActivation(entry), signal);
  progress.begin();
  const model = await acquired(entry, progress, signal);
  let isFree = false;
  let stopListening = () => {};
  const free = () => {
    stopListening();
    if (!isFree) entry?.shared.release();
    isFree = true;
  };
  try {
    progress.finish();
    await nextTask();
    signal?.throwIfAborted();
    const made = make(model, free);
    const weak = new WeakRef(made); // a signal may live longer than what nobody uses any more
    stopListening = onAbort(signal, () => {
      const known = weak.deref();
      if (known) destroyWith(known, signal!.reason);
    });
    return made;
  } catch (error) {
    free();
    throw error;
  }
}

async function acquired<Model extends { dispose?(): void }>(
  entry: Entry<Model> | undefined, progress: Progress, signal: AbortSignal | undefined,
): Promise<Model | undefined> {
  try {
    return await entry?.shared.acquire((loaded, total) => progress.report(loaded, total), signal);
  } catch (error) {
    throw asDomError(error, 'OperationError');
  }
}
