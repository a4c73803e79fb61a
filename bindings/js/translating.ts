/// <reference lib="esnext.disposable" preserve="true" />
// What Translator and Trainer share.
import { Connection, type CallOptions } from './connection.js';
import { checkTranslate } from './options.js';
import type { LoadRequest, Results, TrainRequest, Update } from './protocol.js';
import { fromPlain } from './results.js';
import { threadCount } from './threads.js';
import type { TranslateOptions, Translation } from './types.js';

// Node 20 may not have it yet.
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

type Given<Request> = Omit<Request, 'id' | 'threads' | 'isThreadsLimit'>;

/** Opens a worker with the request that it begins with, and closes it where that fails. */
export async function begin<Request extends LoadRequest | TrainRequest>(
  owner: 'translator' | 'trainer',
  request: Given<Request>,
  wanted: number | 'auto' = 'auto',
  { signal, onUpdate }: CallOptions,
  site: Error,
): Promise<{ connection: Connection; info: Results[Request['type']]['info'] }> {
  const threads = await threadCount(wanted);
  signal?.throwIfAborted();
  const connection = await Connection.open(owner);
  try {
    // TypeScript cannot tell that a request without its id is a question.
    const question = { ...request, threads, isThreadsLimit: wanted === 'auto' } as unknown as Omit<LoadRequest, 'id'>;
    const transfer = request.model?.kind === 'bytes' ? [request.model.bytes.buffer] : [];
    const result: unknown = await connection.call(question, site, { signal, onUpdate, transfer });
    return { connection, info: (result as Results[Request['type']]).info };
  } catch (error) {
    connection.close('it has not begun');
    throw error;
  }
}

let registry: FinalizationRegistry<Connection> | undefined;

/** The last net, for an object that is forgotten without dispose(): its worker ends. */
export function closeWhenForgotten(owner: object, connection: Connection): void {
  registry ??= new FinalizationRegistry((open) => open.close('it is not in use any more'));
  registry.register(owner, connection, owner);
}

export function closeNow(owner: object, connection: Connection): void {
  registry?.unregister(owner);
  connection.close('it has been disposed of');
}

export async function translateOver(
  connection: Connection,
  owner: object,
  text: string | readonly string[],
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
