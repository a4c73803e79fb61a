// A model that several objects use.
import { until } from './signals.js';

/** Called with the bytes received; `total` is missing if it is unknown. */
export type OnProgress = (loaded: number, total?: number) => void;

/** Loads a model. `signal` aborts when nobody waits for it any more. */
export type Load<Model> = (signal: AbortSignal, onProgress: OnProgress) => Promise<Model>;

interface Opening<Model> {
  promise: Promise<Model>;
  stop: AbortController;
  listeners: Set<OnProgress>;
  isOpen: boolean;
}

/** A model that is loaded for its first user, shared by the next ones, and freed with the last one. */
export class SharedModel<Model extends { dispose?(): void }> {
  #load: Load<Model>;
  #opening: Opening<Model> | undefined;
  #users = 0;

  constructor(load: Load<Model>) {
    this.#load = load;
  }

  get state(): 'absent' | 'loading' | 'open' {
    if (!this.#opening) return 'absent';
    return this.#opening.isOpen ? 'open' : 'loading';
  }

  /** Each call that succeeds must be followed by one of release(). */
  async acquire(onProgress: OnProgress, signal: AbortSignal | undefined): Promise<Model> {
    this.#users++;
    const opening = (this.#opening ??= this.#open());
    opening.listeners.add(onProgress);
    try {
      return await until(opening.promise, signal);
    } catch (error) {
      this.release();
      throw error;
    } finally {
      opening.listeners.delete(onProgress);
    }
  }

  release(): void {
    this.#users--;
    const opening = this.#opening;
    if (this.#users > 0 || !opening) return;
    this.#opening = undefined;
    opening.stop.abort();
    opening.promise.then((model) => model.dispose?.(), () => {});
  }

  #open(): Opening<Model> {
    const stop = new AbortController();
    const listeners = new Set<OnProgress>();
    const report: OnProgress = (loaded, total) => listeners.forEach((listener) => listener(loaded, total));
    const opening: Opening<Model> = { promise: this.#load(stop.signal, report), stop, listeners, isOpen: false };
    opening.promise.then(() => (opening.isOpen = true), () => {});
    return opening;
  }
}
