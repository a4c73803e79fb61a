// The monitor of create(): events that report the progress of a download.

/** Progress is reported in this many steps, so that it does not reveal the size of a model. */
const steps = 0x10000;

/** ProgressEvent, which Node lacks, with fractions, which some browsers round to 0. */
class DownloadProgressEvent extends (globalThis.ProgressEvent ?? Event) {
  constructor(loaded: number) {
    super('downloadprogress');
    const values = { loaded, total: 1, lengthComputable: true };
    for (const [name, value] of Object.entries(values)) Object.defineProperty(this, name, { value, enumerable: true });
  }
}

/** A handler for `ondownloadprogress`. */
export type ProgressListener = (event: ProgressEvent) => void;

/** Argument of the option `monitor`. Its events `downloadprogress` have `loaded` from 0 to 1, and a `total` of 1. */
export class CreateMonitor extends EventTarget {
  #handler: ProgressListener | null = null;
  #call = (event: Event) => this.#handler?.(event as ProgressEvent);

  get ondownloadprogress(): ProgressListener | null {
    return this.#handler;
  }

  set ondownloadprogress(handler: ProgressListener | null) {
    this.removeEventListener('downloadprogress', this.#call);
    this.#handler = typeof handler === 'function' ? handler : null;
    if (this.#handler) this.addEventListener('downloadprogress', this.#call);
  }
}

/** Reports progress to a monitor: from 0 to 1, each number once, and nothing after an abort. */
export class Progress {
  #monitor: CreateMonitor | undefined;
  #signal: AbortSignal | undefined;
  #last = -1;

  /** Calls the option `monitor`, and lets its errors through. */
  constructor(onCreate: ((monitor: CreateMonitor) => void) | undefined, signal: AbortSignal | undefined) {
    this.#signal = signal;
    if (onCreate === undefined) return;
    if (typeof onCreate !== 'function') throw new TypeError('monitor must be a function');
    this.#monitor = new CreateMonitor();
    onCreate(this.#monitor);
  }

  report(loaded: number, total: number | undefined): void {
    if (total && total > 0) this.#tell(Math.floor((loaded / total) * steps) / steps);
  }

  begin(): void {
    this.#tell(0);
  }

  finish(): void {
    this.#tell(1);
  }

  #tell(fraction: number): void {
    if (!this.#monitor || this.#signal?.aborted || fraction <= this.#last || fraction > 1) return;
    this.#last = fraction;
    this.#monitor.dispatchEvent(new DownloadProgressEvent(fraction));
  }
}
