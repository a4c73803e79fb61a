// In the place of bindings/js/own-worker.ts: the worker's script is inside this one.
import script from 'inside:worker';

export const hasThreads = false;

let address: URL | undefined;

export function workerScript(): URL {
  return (address ??= new URL(URL.createObjectURL(new Blob([script], { type: 'text/javascript' }))));
}

export function openOwnWorker(): Worker {
  return new Worker(workerScript());
}
