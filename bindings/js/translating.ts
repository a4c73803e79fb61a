// What Translator and Trainer have in common: how they begin, translate and end.
import { Connection, connections, type CallOptions } from './connection.js';
import { checkTranslate } from './options.js';
import type { LoadRequest, Results, TrainRequest, Update } from './protocol.js';
import { fromPlain } from './results.js';
import { threadCount } from './threads.js';
import type { TranslateOptions, Translation, WorkerOptions } from './types.js';

type Given<Request> = Omit<Request, 'id' | 'key' | 'threads' | 'isThreadsLimit'>;

/** Opens a worker, or takes that of another, with the request that it begins with; gives it back where that fails. */
export async function begin<Request extends LoadRequest | TrainRequest>(
  owner: 'translator' | 'trainer',
  request: Given<Request>,
  { threads: wanted = 'auto', shareWith }: WorkerOptions,
  { signal, onUpdate }: CallOptions,
  site: Error,
): Promise<{ connection: Connection; info: Results[Request['type']]['info'] }> {
  const beside = shareWith && connections.get(shareWith);
  const threads = beside ? 1 : await threadCount(wanted);
  signal?.throwIfAborted();
  const connection = await Connection.open(owner, beside);
  try {
    // TypeScript cannot tell that a request without its id is a question.
    const question = { ...request, threads, isThreadsLimit: wanted === 'auto' } as unknown as Given<LoadRequest> & {
      threads: number;
      isThreadsLimit: boolean;
    };
    const transfer = request.model?.kind === 'bytes' ? [request.model.bytes.buffer] : [];
    const result: unknown = await connection.call(question, site, { signal, onUpdate, transfer });
    return { connection, info: (result as Results[Request['type']]).info };
  } catch (error) {
    connection.close('it has not begun');
    throw error;
  }
}

let registry: FinalizationRegistry<Connection> | undefined;

/** `owner` has this connection, and gives it back when it is forgotten without dispose(), as the last net. */
export function adopt(owner: object, connection: Connection): void {
  connections.set(owner, connection);
  registry ??= new FinalizationRegistry((open) => open.close('it is not in use any more'));
  registry.register(owner, connection, owner);
}

export function closeNow(owner: object, connection: Connection): void {
  registry?.unregister(owner);
  connection.close('it has been disposed of');
}

type Texts = string | readonly string[];

export async function translateOver(
  connection: Connection,
  owner: object,
  text: Texts,
  options: TranslateOptions<string> | TranslateOptions<string[]>,
  site: Error,
): Promise<Translation | Translation[]> {
  const { texts, search, onToken, signal } = checkTranslate(text, options);
  const isOne = typeof text === 'string';
  const onUpdate = (update: Update) => update.type === 'partial' && onToken?.(isOne ? update.texts[0]! : update.texts);
  const question = { type: 'translate' as const, texts, options: search, partials: onToken !== undefined };
  const reply = await connection.call(question, site, { signal, onUpdate, owner });
  const translations = reply.translations.map(fromPlain);
  return isOne ? translations[0]! : translations;
}

/**
 * What `call` tells by its callback, one after the other, and then what it comes to. Leaving the loop aborts the call;
 * so does `signal`.
 */
export async function* tell<Item, End>(
  call: (take: (item: Item) => void, signal: AbortSignal) => Promise<End>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item, End, undefined> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal!.reason);
  signal?.addEventListener('abort', onAbort);
  const items: Item[] = [];
  let wake = () => {};
  let isOver = false;
  const take = (item: Item) => {
    items.push(item);
    wake();
  };
  const end = call(take, stop.signal);
  const over = () => {
    isOver = true;
    wake();
  };
  end.then(over, over);
  try {
    for (;;) {
      while (items.length > 0) yield items.shift()!;
      if (isOver) return await end;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    stop.abort();
  }
}
