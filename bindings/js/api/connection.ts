// A worker as the page sees it: one connection for each model in it, and the calls that wait for replies.
import { onAbort } from '../shared/aborting.js';
import { fromPlainError, toPlainError, WasmformerError, type ErrorDetails, type PlainError } from '../shared/errors.js';
import { isNode, nodeModule, notHere, sameOriginScript, trusted } from '../shared/platform.js';
import {
  version, type Alive, type Answer, type CompiledModule, type Method, type Reply, type Request, type Result,
  type Update, type Wanted,
} from '../shared/protocol.js';
import { createWorker, workerScript } from './worker-script.js';

export interface CallOptions {
  signal?: AbortSignal | undefined;
  onUpdate?: ((update: Update, id: number) => void) | undefined;
  transfer?: (ArrayBuffer | MessagePort)[] | undefined;
  /** Kept from being collected until its call is answered. */
  owner?: object | undefined;
}

interface Pending extends CallOptions {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** Made by the caller, for its stack. */
  site: Error;
}

/** Addresses of the worker's script and of the folder of its modules. */
interface Files {
  script?: URL;
  wasm?: string;
}

/** A worker, alike in browsers and in Node (Deno, Bun). */
interface WorkerPort {
  post(message: Request, transfer?: (ArrayBuffer | MessagePort)[]): void;
  /** While false, an open worker does not keep a Node program from ending. */
  keepAlive(busy: boolean): void;
  terminate(): void;
}

interface PortEvents {
  onMessage(reply: Reply): void;
  /** Called once, when the worker cannot work any more. */
  onDeath(reason: Reason): void;
}

/** Why a worker or a model in it cannot be used any more; the connection's tag stands before the sentence. */
interface Reason {
  code: string;
  sentence: string;
  details?: ErrorDetails;
}
/** Reason for refusing calls to a model that its user has disposed of. */
export const disposed = (sentence: string): Reason => ({ code: 'disposed', sentence });
const stopped = (why: string, code = 'worker-stopped', details: ErrorDetails = { why }): Reason =>
  ({ code, sentence: `the worker has stopped: ${why}`, details });

function scriptFailed(url: string): Reason {
  return stopped(`its script, ${url}, could not be loaded; set workerURL to its address`, 'worker-script', { url });
}

// In Node a bundler has moved the script, or made it a script of another kind.
const bundled = "exclude wasmformer from the server's bundle (Next.js: serverExternalPackages), or set workerURL and wasmURL";

function nodeScriptFailed(url: string, why: string): Reason {
  return stopped(`its script, ${url}, could not be loaded (${why}); ${bundled}`, 'worker-script', { url, why });
}

/** The worker's script is that of another version, such as an old copy. */
const otherVersion = (found: string): Reason => ({
  code: 'worker-version',
  sentence: `the worker's script is of version ${found}, but the package of ${version}; copy worker.js and the folder wasm again`,
  details: { worker: found, package: version },
});

const longestSilence = 20; // seconds; a script that has been loaded answers at once

function silent(url: string): Reason {
  const sentence = `the worker's script, ${url}, has not answered for ${longestSilence} seconds; it must be the package's worker/worker.js`;
  return { code: 'worker-silent', sentence, details: { url, seconds: longestSilence } };
}

/** The address of the worker's script: the one given, or the package's own. */
function scriptAddress(script: URL | undefined): URL {
  try {
    return script ?? workerScript();
  } catch (cause) {
    const sentence = `the script of the package has no address here, from which its worker could be found; ${bundled}`;
    throw new WasmformerError('worker-script', sentence, { room: 'load', details: { url: '' }, cause });
  }
}

/** Calls `onFree` when the worker lets go of its lock. */
async function watchLock(name: string, signal: AbortSignal, onFree: () => void): Promise<void> {
  // Once the browser has deleted the page's storage, the page does not see the locks of new workers.
  const isHeld = await navigator.locks.request(name, { ifAvailable: true }, (lock) => !lock);
  if (isHeld) await navigator.locks.request(name, { signal }, onFree);
}

const withoutWorkers = 'the Engine of wasmformer/engine needs none';

function openWebWorker({ onMessage, onDeath }: PortEvents, script: URL | undefined): WorkerPort {
  if (typeof Worker === 'undefined') throw notHere('load', 'this environment cannot start workers', withoutWorkers);
  const worker = script ? new Worker(trusted(sameOriginScript(script)), { type: 'module' }) : createWorker();
  const watch = new AbortController();
  worker.onmessage = ({ data }: MessageEvent<Reply | Alive>) => {
    if (data.type !== 'alive') return onMessage(data);
    watchLock(data.lock, watch.signal, () => onDeath(stopped('the browser ended it', 'worker-ended'))).catch(() => {});
  };
  worker.onmessageerror = () => onDeath(stopped('a message could not be read'));
  worker.onerror = ({ message }) => {
    onDeath(message ? stopped(message) : scriptFailed(String(scriptAddress(script))));
  };
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    keepAlive: () => {},
    terminate() {
      watch.abort();
      worker.terminate();
    },
  };
}

async function openNodeWorker({ onMessage, onDeath }: PortEvents, script: URL): Promise<WorkerPort> {
  const { Worker: NodeWorker } = await nodeModule<typeof import('node:worker_threads')>('worker_threads');
  const { fileURLToPath } = await nodeModule<typeof import('node:url')>('url');
  // A path, since the URL may be of another realm: a bundler's or that of a played page.
  const file = script.protocol === 'file:' ? fileURLToPath(script.href) : script;
  // Options of the program, such as --input-type, are not for the worker.
  const worker = new NodeWorker(file, { execArgv: [] });
  worker.on('message', onMessage);
  worker.on('messageerror', ({ message }) => onDeath(stopped(message)));
  worker.on('error', (error) => onDeath(isScriptError(error) ? nodeScriptFailed(script.href, error.message) : stopped(error.message)));
  worker.on('exit', (code) => onDeath(stopped(`it ended with code ${code}`)));
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer as never[]),
    keepAlive: (busy) => (busy ? worker.ref() : worker.unref()),
    terminate: () => void worker.terminate(),
  };
}

/** Returns whether the worker's script is missing, or is read as CommonJS, as bundlers may emit it. */
function isScriptError(error: NodeJS.ErrnoException): boolean {
  return ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes(error.code ?? '') || error.name === 'SyntaxError';
}

/** A worker and the connections to it. */
interface WorkerHost {
  port: WorkerPort;
  connections: Set<Connection>;
  /** Counts calls and models. */
  lastId: number;
}

/** Compiled modules by URL, so that later workers need not compile them again. */
const compiled = new Map<string, CompiledModule>();

async function openHost({ script, wasm }: Files): Promise<WorkerHost> {
  const connections = new Set<Connection>();
  const closeAll = (reason: Reason | PlainError) => [...connections].forEach((connection) => connection.close(reason));
  const address = String(scriptAddress(script));
  const silence = setTimeout(() => closeAll(silent(address)), longestSilence * 1000);
  if (typeof silence === 'object') silence.unref(); // in Node
  const events: PortEvents = {
    onMessage(reply) {
      if (reply.type === 'ready') {
        clearTimeout(silence);
        if (reply.version !== version) closeAll(otherVersion(reply.version));
        return;
      }
      if (reply.type === 'compiled') return void compiled.set(reply.url, reply.module);
      for (const connection of connections) if (connection.receive(reply)) break;
      if (reply.type === 'failed' && reply.isFatal) closeAll(reply.error);
    },
    onDeath(reason) {
      clearTimeout(silence);
      closeAll(reason);
    },
  };
  const port = isNode ? await openNodeWorker(events, scriptAddress(script)) : openWebWorker(events, script);
  port.keepAlive(false);
  port.post({ type: 'files', wasm, compiled });
  return { port, connections, lastId: 0 };
}

/** The connections of the translators and trainers that the caller has. */
export const connections = new WeakMap<object, Connection>();

/** A connection to one model, in a worker of its own or shared with other models. */
export class Connection {
  #host: WorkerHost;
  #key: number;
  /** The tag of its messages. */
  #tag: string;
  #pending = new Map<number, Pending>();
  /** Why no more calls are possible. */
  #closeReason: PlainError | undefined;

  private constructor(host: WorkerHost, tag: string) {
    this.#host = host;
    this.#key = ++host.lastId;
    this.#tag = tag;
    host.connections.add(this);
  }

  /** In the worker of `shareWith`, or in a new one. */
  static async open(tag: string, shareWith?: Connection, files: Files = {}): Promise<Connection> {
    const reason = shareWith ? shareWith.#closeReason : undefined;
    if (reason !== undefined) {
      const { code, message, details } = reason;
      throw new WasmformerError(code, `shareWith cannot be used: ${message}`, { room: 'load', details });
    }
    return new Connection(shareWith ? shareWith.#host : await openHost(files), tag);
  }

  /** The model's, in messages of this worker. */
  get key(): number {
    return this.#key;
  }

  /** One call to a worker that is started for it, and ended. */
  static async once<M extends Method>(
    method: M, wanted: Wanted<M>, site: Error, options: CallOptions, files: Files,
  ): Promise<Result<M>> {
    options.signal?.throwIfAborted();
    const connection = await Connection.open(method, undefined, files);
    try {
      return await connection.call(method, wanted, site, options);
    } finally {
      connection.close(disposed('the call is over'));
    }
  }

  /** Rejects with the signal's reason, with what `onUpdate` throws, or with the worker's error as seen from `site`. */
  async call<M extends Method>(method: M, wanted: Wanted<M>, site: Error, options: CallOptions): Promise<Result<M>> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#closeReason !== undefined) throw errorAt(site, this.#closeReason);
    const id = ++this.#host.lastId;
    const stopListening = onAbort(signal, () => this.#abandon(id, signal!.reason));
    try {
      const result = await new Promise((resolve, reject) => {
        this.#host.port.post({ type: 'call', id, key: this.#key, method, wanted }, options.transfer);
        this.#pending.set(id, { ...options, site, resolve, reject });
        this.#host.port.keepAlive(true);
      });
      return result as Result<M>;
    } finally {
      stopListening();
    }
  }

  /** Tells the worker that the page has processed an event of call `id`. */
  acknowledge(id: number): void {
    if (this.#pending.has(id)) this.#host.port.post({ type: 'acknowledge', id });
  }

  /** Frees the model, and ends the worker with its last one; pending calls are rejected with `reason`. */
  close(reason: Reason | PlainError): void {
    if (this.#closeReason !== undefined) return;
    const { port, connections } = this.#host;
    this.#closeReason = 'message' in reason ? { ...reason, stack: undefined } : this.#tagged(reason);
    connections.delete(this);
    if (connections.size === 0) port.terminate();
    else port.post({ type: 'dispose', key: this.#key });
    for (const { site, reject } of this.#pending.values()) reject(errorAt(site, this.#closeReason));
    this.#pending.clear();
    this.#updateKeepAlive();
  }

  /** Returns false if the reply is for another connection, or comes too late. */
  receive(reply: Answer): boolean {
    const pending = this.#pending.get(reply.id);
    if (!pending) return false;
    if (reply.type === 'update') {
      try {
        pending.onUpdate?.(reply.update, reply.id);
      } catch (error) {
        this.#abandon(reply.id, error);
      }
      return true;
    }
    this.#remove(reply.id);
    if (reply.type === 'failed') pending.reject(errorAt(pending.site, reply.error));
    else pending.resolve(reply.result);
    return true;
  }

  #tagged({ code, sentence, details }: Reason): PlainError {
    return { ...toPlainError(new WasmformerError(code, sentence, { room: this.#tag, details })), stack: undefined };
  }

  #abandon(id: number, reason: unknown): void {
    this.#pending.get(id)?.reject(reason);
    this.#host.port.post({ type: 'abort', id });
    this.#remove(id);
  }

  #remove(id: number): void {
    this.#pending.delete(id);
    this.#updateKeepAlive();
  }

  #updateKeepAlive(): void {
    const { port, connections } = this.#host;
    port.keepAlive([...connections].some((connection) => connection.#pending.size > 0));
  }
}

/** The worker's error with the stack of the call that it answers; the worker's own stack is that of the cause. */
function errorAt(site: Error, plain: PlainError): WasmformerError {
  const { name, message, stack } = plain;
  const error = fromPlainError(plain);
  error.stack = site.stack?.replace(/^Error.*\n/, () => `${name}: ${message}\n`);
  if (stack !== undefined) error.cause = Object.assign(new Error(message), { stack });
  return error;
}
