// Replaces bindings/js/api/worker-script.ts: the worker's script is inside this one.
import { trusted } from '../js/shared/platform.js';
import script from 'inside:worker';

export const hasThreads = false;

let address: URL | undefined;

export function workerScript(): URL {
  return (address ??= new URL(URL.createObjectURL(new Blob([script], { type: 'text/javascript' }))));
}

export function createWorker(): Worker {
  return new Worker(trusted(workerScript()));
}
