// The worker's script.
import { WasmformerError } from '../shared/errors.js';
import { nodeModule } from '../shared/platform.js';
import type { Alive, Reply, Request } from '../shared/protocol.js';
import { tidy } from '../shared/results.js';
import { Requests } from './dispatcher.js';

const requests = new Requests(listen((request) => requests.receive(request)));

/** Calls `receive` for each message of the page; returns a function that posts one to it. */
function listen(receive: (request: Request) => void): (reply: Reply) => void {
  // Node's workers in Bun have postMessage too, but not onmessage, so postMessage is no way to tell.
  if ('DedicatedWorkerGlobalScope' in globalThis) {
    // Set at once: a browser delivers the messages that have arrived as soon as the script has run.
    globalThis.onmessage = ({ data }: MessageEvent) => receive(data);
    void holdLock();
    return (reply) => postMessage(reply, { transfer: tidy(reply) });
  }
  const parent = nodeModule<typeof import('node:worker_threads')>('worker_threads').then(({ parentPort }) => {
    if (!parentPort) throw new WasmformerError('worker', 'this script is for workers only');
    parentPort.on('message', receive);
    // Nobody knows which call it was, so all of them fail: the error ends the worker.
    parentPort.on('messageerror', ({ message }) => {
      throw new Error(`a message could not be read: ${message}`);
    });
    return parentPort;
  });
  return (reply) => void parent.then((port) => port.postMessage(reply, tidy(reply) as never[]));
}

/** Holds it until the worker ends. Where locks are missing or forbidden, the page cannot learn that the browser ended the worker. */
async function holdLock(): Promise<void> {
  const lock = `wasmformer worker ${Math.random()}`;
  const alive: Alive = { type: 'alive', lock };
  await (globalThis.navigator?.locks as LockManager | undefined)
    ?.request(lock, () => new Promise(() => postMessage(alive)))
    .catch(() => {});
}
