// One worker, and the calls that wait for its replies.
import { openWorker, type WorkerPort } from './port.js';
import type { Asked, PlainError, Reply, Request, Result, Results, Update } from './protocol.js';

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;
type Question = WithoutId<Asked>;

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

export class Connection {
  #port: WorkerPort<Request, Reply>;
  /** For messages. */
  #owner: string;
  #pending = new Map<number, Pending>();
  #nextId = 1;
  /** Why there can be no more calls. */
  #end: string | undefined;

  private constructor(port: WorkerPort<Request, Reply>, owner: string) {
    this.#port = port;
    this.#owner = owner;
    port.onMessage = (reply) => this.#receive(reply);
    port.onDeath = (reason) => this.close(`the worker has stopped: ${reason}`);
    port.keepAlive(false);
  }

  static async open(owner: 'translator' | 'trainer'): Promise<Connection> {
    return new Connection(await openWorker<Request, Reply>(), owner);
  }

  /** Rejects with the signal's reason, with what `onUpdate` throws, or with the worker's error as seen from `site`. */
  async call<Q extends Question>(question: Q, site: Error, options: CallOptions): Promise<Results[Q['type']]> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#end !== undefined) throw errorAt(site, { name: 'Error', message: this.#end });
    const id = this.#nextId++;
    const onAbort = () => this.#abandon(id, signal!.reason);
    try {
      const result = await new Promise<Result>((resolve, reject) => {
        this.#port.post({ ...question, id } as Asked, options.transfer);
        this.#pending.set(id, { ...options, site, resolve, reject });
        this.#port.keepAlive(true);
        signal?.addEventListener('abort', onAbort);
      });
      return result as Results[Q['type']];
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Tells the worker that an event of call `id` has been taken. */
  seen(id: number): void {
    if (this.#pending.has(id)) this.#port.post({ type: 'seen', id });
  }

  /** Ends the worker; calls that wait are rejected with `reason`. */
  close(reason: string): void {
    if (this.#end !== undefined) return;
    // The worker's own sentences have their tag.
    this.#end = reason.startsWith('[') ? reason : `[${this.#owner}] ${reason}`;
    this.#port.close();
    const end = { name: 'Error', message: this.#end };
    for (const { site, reject } of this.#pending.values()) reject(errorAt(site, end));
    this.#pending.clear();
  }

  #receive(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    if (!pending) return;
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
        if (reply.isFatal) this.close(reply.error.message);
        break;
      default:
        this.#settle(reply.id);
        pending.resolve(reply);
    }
  }

  #abandon(id: number, reason: unknown): void {
    this.#pending.get(id)?.reject(reason);
    this.#port.post({ type: 'abort', id });
    this.#settle(id);
  }

  #settle(id: number): void {
    this.#pending.delete(id);
    this.#port.keepAlive(this.#pending.size > 0);
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
