// Number of threads to compute with.
import { WasmformerError } from '../shared/errors.js';
import { isNode, nodeModule } from '../shared/platform.js';
import { hasThreads } from './worker-script.js';

// With more threads, the products of a small model are too short to divide.
const mostThreads = 8;

// (memory 1 1 shared) (func (drop (i32.atomic.load (i32.const 0))))
const threadsProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 5, 4, 1, 3, 1, 1, 10, 11, 1, 9, 0, 65, 0, 254, 16, 2, 0,
  26, 11,
];

/** Why there can be no threads; undefined if there can. */
function threadObstacle(): string | undefined {
  if (!hasThreads) return 'there are no threads in the one-file build';
  // The workers of Deno and Bun have not been tried with threads.
  if (isNode && ('deno' in process.versions || 'bun' in process.versions)) {
    return 'outside browsers, only Node supports threads';
  }
  // Browsers give shared memory to isolated pages only; Node has no pages and always has it.
  if (!isNode && !globalThis.crossOriginIsolated) {
    return (
      'this page is not cross-origin isolated; serve it over https with the headers '
      + "'Cross-Origin-Opener-Policy: same-origin' and 'Cross-Origin-Embedder-Policy: require-corp'"
    );
  }
  if (typeof SharedArrayBuffer === 'undefined' || !WebAssembly.validate(new Uint8Array(threadsProbe))) {
    return 'there is no shared WebAssembly memory here; current browsers and Node versions have it';
  }
  return undefined;
}

/** The number of threads for the option `threads`. Throws if more than one is asked for and impossible. */
export async function threadCount(wanted: number | 'auto'): Promise<number> {
  if (wanted === 1) return 1;
  const obstacle = threadObstacle();
  if (wanted !== 'auto') {
    if (obstacle !== undefined) throw new WasmformerError('load', `threads is ${wanted}, but ${obstacle}; or use 1 or 'auto'`);
    return wanted;
  }
  if (obstacle !== undefined) return 1;
  return Math.max(1, Math.min(await coreCount(), mostThreads));
}

async function coreCount(): Promise<number> {
  if (!isNode) return navigator.hardwareConcurrency ?? 1;
  return (await nodeModule<typeof import('node:os')>('os')).availableParallelism();
}
