// A worker, or the other end in it, alike in browsers and in Node (Deno, Bun).
import { isNode, nodeModule } from './node.js';
import { openOwnWorker, workerScript } from './own-worker.js';

export interface WorkerPort<Out, In> {
  post(message: Out, transfer?: Transferable[]): void;
  /** While false, an open worker does not keep a Node program from ending. */
  keepAlive(busy: boolean): void;
  close(): void;
  onMessage: (message: In) => void;
  /** Called once, when the worker cannot work any more. */
  onDeath: (reason: string) => void;
}

const ignore = () => {};

export async function openWorker<Out, In>(): Promise<WorkerPort<Out, In>> {
  return isNode ? openNodeWorker() : openWebWorker();
}

function openWebWorker<Out, In>(): WorkerPort<Out, In> {
  const worker = openOwnWorker();
  const port: WorkerPort<Out, In> = {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    keepAlive: ignore,
    close: () => worker.terminate(),
    onMessage: ignore,
    onDeath: ignore,
  };
  worker.onmessage = ({ data }) => port.onMessage(data);
  worker.onmessageerror = () => port.onDeath('a message could not be read');
  worker.onerror = ({ message }) => port.onDeath(message || 'its script, worker.js, could not be loaded');
  return port;
}

async function openNodeWorker<Out, In>(): Promise<WorkerPort<Out, In>> {
  const { Worker: NodeWorker } = await nodeModule<typeof import('node:worker_threads')>('worker_threads');
  // Options of the program, such as --input-type, are not for the worker.
  const worker = new NodeWorker(workerScript(), { execArgv: [] });
  const port: WorkerPort<Out, In> = {
    post: (message, transfer = []) => worker.postMessage(message, transfer as never[]),
    keepAlive: (busy) => (busy ? worker.ref() : worker.unref()),
    close: () => void worker.terminate(),
    onMessage: ignore,
    onDeath: ignore,
  };
  worker.on('message', (message) => port.onMessage(message));
  worker.on('messageerror', ({ message }) => port.onDeath(message));
  worker.on('error', ({ message }) => port.onDeath(message));
  worker.on('exit', (code) => port.onDeath(`it ended with code ${code}`));
  return port;
}

/** The end inside the worker: calls `receive` for each message, and returns how to post one. */
export function answer<In, Out>(receive: (message: In) => void): (message: Out, transfer?: Transferable[]) => void {
  // Not by postMessage, which Bun's workers of Node's kind have too, but without onmessage.
  if ('DedicatedWorkerGlobalScope' in globalThis) {
    // Set at once: a browser delivers what has arrived when the script has run.
    globalThis.onmessage = ({ data }: MessageEvent) => receive(data);
    return (message, transfer = []) => postMessage(message, { transfer });
  }
  const parent = nodeModule<typeof import('node:worker_threads')>('worker_threads').then(({ parentPort }) => {
    parentPort!.on('message', receive);
    // Nobody knows which call it was, so all of them fail: the error ends the worker.
    parentPort!.on('messageerror', ({ message }) => {
      throw new Error(`a message could not be read: ${message}`);
    });
    return parentPort!;
  });
  return (message, transfer = []) => void parent.then((port) => port.postMessage(message, transfer as never[]));
}

/** Returns a function that lets the messages that have arrived be delivered; a timer would wait for milliseconds. */
export function createPause(): () => Promise<void> {
  // Node, Bun and Deno deliver up to a thousand messages of one MessagePort before they look at another port.
  if (typeof setImmediate === 'function') return () => new Promise((resolve) => void setImmediate(resolve));
  const { port1, port2 } = new MessageChannel();
  let proceed: () => void;
  port1.onmessage = () => proceed();
  return () =>
    new Promise((resolve) => {
      proceed = resolve;
      port2.postMessage(undefined);
    });
}
