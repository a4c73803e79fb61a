// The address of the worker's script. In the one-file build, bindings/one-file/worker-script.ts replaces this file.
import { isCrossOrigin, sameOriginScript } from '../shared/platform.js';

/** True except in the one-file build, which has no threads. */
export const hasThreads = true;

// For addresses that bundlers are to leave alone.
const here = import.meta.url;

export const workerScript = (): URL => new URL('../worker/worker.js', here);

export function createWorker(): Worker {
  const script = workerScript();
  if (isCrossOrigin(script)) return new Worker(sameOriginScript(script), { type: 'module' });
  // Bundlers recognize this form, and replace the address by that of the bundled worker.
  return new Worker(new URL('../worker/worker.js', import.meta.url), { type: 'module' });
}
