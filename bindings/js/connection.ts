// What the client holds of a worker: a connection to one model in it, and the calls that wait for replies.
import { openWorker, type WorkerPort } from './port.js';
import type { Asked, PlainError, Reply, Request, Result, Results, Update } from './protocol.js';

type Unsent<T> = T extends unknown ? Omit<T, 'id' | 'key'> : never;
type Question = Unsent<Asked>;

export interface CallOptions {
  signal?: AbortSignal;
  onUpdate?: (update: Update) => void;
  transfer?: Transferable[];
  /** Kept from being collected while its call waits. */
  owner?: object;
}

interface Pending extends CallOptions {
  resolve(result: Result): void;
  reject(error: unknown): void;
  /** Made where the call was, for its stack. */
  site: Error;
}

/** A worker, and all who use it. */
interface Host {
  port: WorkerPort<Request, Reply>;
  connections: Set<Connection>;
  /** Of calls and of models. */
  lastId: number;
}

async function openHost(): Promise<Host> {
  const port = await openWorker<Request, Reply>();
  const host: Host = { port, connections: new Set(), lastId: 0 };
  const closeAll = (reason: string) => [...host.connections].forEach((connection) => connection.close(reason));
  port.onMessage = (reply) => {
    for (const connection of host.connections) if (connection.receive(reply)) break;
    if (reply.type === 'failed' && reply.isFatal) closeAll(reply.error.message);
  };
  port.onDeath = (reason) => closeAll(`the worker has stopped: ${reason}`);
  port.keepAlive(false);
  return host;
}

/** Those of the objects that a user has. */
export const connections = new WeakMap<object, Connection>();

/** To one model, in a worker of its own or beside others. */
export class Connection {
  #host: Host;
  #key: number;
  /** For messages. */
  #owner: string;
  #pending = new Map<number, Pending>();
  /** Why there can be no more calls. */
  #end: string | undefined;

  private constructor(host: Host, owner: string) {
    this.#host = host;
    this.#key = ++host.lastId;
    this.#owner = owner;
    host.connections.add(this);
  }

  static async open(owner: 'translator' | 'trainer' | 'convert', beside?: Connection): Promise<Connection> {
    if (beside && beside.#end !== undefined) throw new Error(`[load] shareWith cannot be used: ${beside.#end}`);
    return new Connection(beside ? beside.#host : await openHost(), owner);
  }

  /** Rejects with the signal's reason, with what `onUpdate` throws, or with the worker's error as seen from `site`. */
  async call<Q extends Question>(question: Q, site: Error, options: CallOptions): Promise<Results[Q['type']]> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#end !== undefined) throw errorAt(site, { name: 'Error', message: this.#end });
    const id = ++this.#host.lastId;
    const onAbort = () => this.#abandon(id, signal!.reason);
    try {
      const result = await new Promise<Result>((resolve, reject) => {
        this.#host.port.post({ ...question, id, key: this.#key } as Asked, options.transfer);
        this.#pending.set(id, { ...options, site, resolve, reject });
        this.#host.port.keepAlive(true);
        signal?.addEventListener('abort', onAbort);
      });
      return result as Results[Q['type']];
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Tells the worker that an event of call `id` has been taken. */
  seen(id: number): void {
    if (this.#pending.has(id)) this.#host.port.post({ type: 'seen', id });
  }

  /** Gives the model back, and ends the worker with its last one; calls that wait are rejected with `reason`. */
  close(reason: string): void {
    if (this.#end !== undefined) return;
    const { port, connections } = this.#host;
    // The worker's own sentences have their tag.
    this.#end = reason.startsWith('[') ? reason : `[${this.#owner}] ${reason}`;
    connections.delete(this);
    if (connections.size === 0) port.close();
    else port.post({ type: 'dispose', key: this.#key });
    const end = { name: 'Error', message: this.#end };
    for (const { site, reject } of this.#pending.values()) reject(errorAt(site, end));
    this.#pending.clear();
    this.#keepAlive();
  }

  /** False where the reply is another connection's, or comes too late. */
  receive(reply: Reply): boolean {
    const pending = this.#pending.get(reply.id);
    if (!pending) return false;
    switch (reply.type) {
      case 'progress':
      case 'partial':
      case 'event':
        try {
          pending.onUpdate?.(reply);
        } catch (error) {
          this.#abandon(reply.id, error);
        }
        break;
      case 'failed':
        this.#settle(reply.id);
        pending.reject(errorAt(pending.site, reply.error));
        break;
      default:
        this.#settle(reply.id);
        pending.resolve(reply);
    }
    return true;
  }

  #abandon(id: number, reason: unknown): void {
    this.#pending.get(id)?.reject(reason);
    this.#host.port.post({ type: 'abort', id });
    this.#settle(id);
  }

  #settle(id: number): void {
    this.#pending.delete(id);
    this.#keepAlive();
  }

  #keepAlive(): void {
    const { port, connections } = this.#host;
    port.keepAlive([...connections].some((connection) => connection.#pending.size > 0));
  }
}

/** The worker's error, with the stack of the call that it answers; its own is that of the cause. */
function errorAt(site: Error, { name, message, stack }: PlainError): Error {
  const error = new Error(message);
  if (name !== 'Error') error.name = name;
  error.stack = site.stack?.replace(/^Error.*\n/, () => `${name}: ${message}\n`);
  if (stack !== undefined) error.cause = Object.assign(new Error(message), { stack });
  return error;
}
