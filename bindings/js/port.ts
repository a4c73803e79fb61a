// A worker, or the other end in it, alike in browsers and in Node (Deno, Bun).
import { isNode, nodeModule } from './node.js';

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
// For addresses that bundlers are to leave alone.
const here = import.meta.url;

export async function openWorker<Out, In>(): Promise<WorkerPort<Out, In>> {
  return isNode ? openNodeWorker() : openWebWorker();
}

function openWebWorker<Out, In>(): WorkerPort<Out, In> {
  const script = new URL('./worker.js', here);
  const worker = isElsewhere(script) ? new Worker(startable(script), { type: 'module' }) : ownWorker();
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

// Bundlers know this form, and put the worker's own script in place of the address.
function ownWorker(): Worker {
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
}

/** Whether a script comes from another host than the page, as from a CDN. (Webpack says file: of every script.) */
function isElsewhere({ protocol, origin }: URL): boolean {
  return protocol.startsWith('http') && typeof location === 'object' && origin !== location.origin;
}

/** An address that a worker may be started from: no page may start one of another host, but its own may import it. */
export function startable(script: URL): URL {
  if (!isElsewhere(script)) return script;
  const text = `import ${JSON.stringify(script.href)};`;
  return new URL(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
}

async function openNodeWorker<Out, In>(): Promise<WorkerPort<Out, In>> {
  const { Worker: NodeWorker } = await nodeModule<typeof import('node:worker_threads')>('worker_threads');
  // Options of the program, such as --input-type, are not for the worker.
  const worker = new NodeWorker(new URL('./worker.js', here), { execArgv: [] });
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
  if (typeof postMessage === 'function') {
    // Set at once: a browser delivers what has arrived when the script has run.
    globalThis.onmessage = ({ data }: MessageEvent) => receive(data);
    return (message, transfer = []) => postMessage(message, { transfer });
  }
  const parent = nodeModule<typeof import('node:worker_threads')>('worker_threads').then(({ parentPort }) => {
    parentPort!.on('message', receive);
    return parentPort!;
  });
  return (message, transfer = []) => void parent.then((port) => port.postMessage(message, transfer as never[]));
}

/** Lets messages that have arrived be delivered; timers would wait for milliseconds. */
export function createPause(): () => Promise<void> {
  const { port1, port2 } = new MessageChannel();
  let proceed: () => void;
  port1.onmessage = () => proceed();
  return () =>
    new Promise((resolve) => {
      proceed = resolve;
      port2.postMessage(undefined);
    });
}
