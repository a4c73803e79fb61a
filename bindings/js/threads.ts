// How many threads to compute with, and why not more.
import { isNode, nodeModule } from './node.js';
import { hasThreads } from './own-worker.js';

// Beyond these, a small model's products are too short to be shared out.
const most = 8;

// (memory 1 1 shared) (func (drop (i32.atomic.load (i32.const 0))))
const probe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 4, 1, 3, 1, 1, 10, 11, 1, 9, 0, 65, 0, 254, 16, 2, 0,
  26, 11,
];

/** Why there can be no threads; undefined where there can. */
function obstacle(): string | undefined {
  if (!hasThreads) return 'there are no threads in the one-file build';
  if (isForeignRuntime()) return 'outside of browsers, threads are for Node only';
  // Browsers show shared memory to isolated pages only; Node has no pages and always has it.
  if (!isNode && !globalThis.crossOriginIsolated) {
    return (
      'this page is not cross-origin isolated; serve it over https with the headers ' +
      "'Cross-Origin-Opener-Policy: same-origin' and 'Cross-Origin-Embedder-Policy: require-corp'"
    );
  }
  if (typeof SharedArrayBuffer === 'undefined' || !WebAssembly.validate(new Uint8Array(probe))) {
    return 'there is no shared WebAssembly memory here; a current browser or Node has it';
  }
  return undefined;
}

// Deno and Bun, whose workers have not been tried with threads.
function isForeignRuntime(): boolean {
  return isNode && ('deno' in process.versions || 'bun' in process.versions);
}

/** The number for the option `threads`. Throws where more than one is asked for and cannot be had. */
export async function threadCount(wanted: number | 'auto'): Promise<number> {
  if (wanted === 1) return 1;
  const reason = obstacle();
  if (wanted !== 'auto') {
    if (reason !== undefined) throw new Error(`[load] threads is ${wanted}, but ${reason}; or use 1 or 'auto'`);
    return wanted;
  }
  if (reason !== undefined) return 1;
  return Math.max(1, Math.min(await cores(), most));
}

async function cores(): Promise<number> {
  if (!isNode) return navigator.hardwareConcurrency ?? 1;
  return (await nodeModule<typeof import('node:os')>('os')).availableParallelism();
}
