// The address of the worker's script. In the one-file build, bindings/one-file/worker-script.ts replaces this file.
import { isCrossOrigin, sameOriginScript, trusted } from '../shared/platform.js';

/** True except in the one-file build, which has no threads. */
export const hasThreads = true;

// For addresses that bundlers are to leave alone.
const here = import.meta.url;

export const workerScript = (): URL => new URL('../worker/worker.js', here);

export function createWorker(): Worker {
  const script = workerScript();
  if (isCrossOrigin(script)) return new Worker(trusted(sameOriginScript(script)), { type: 'module' });
  // Bundlers recognize this form, and replace the address by that of the bundled worker.
  return withTrustedAddress(() => new Worker(new URL('../worker/worker.js', import.meta.url), { type: 'module' }));
}

/** Calls `start` and, if the page refuses its address since it demands Trusted Types, once more with a trusted one. */
function withTrustedAddress(start: () => Worker): Worker {
  try {
    return start();
  } catch (error) {
    if (!(error instanceof TypeError && 'trustedTypes' in globalThis)) throw error;
  }
  // The address is known only where `start` hands it over, since bundlers write it there.
  const { Worker } = globalThis;
  globalThis.Worker = class extends Worker {
    constructor(address: string | URL, options?: WorkerOptions) {
      super(trusted(new URL(address, location.href)), options);
    }
  };
  try {
    return start();
  } finally {
    globalThis.Worker = Worker;
  }
}
