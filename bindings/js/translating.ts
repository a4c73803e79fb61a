/// <reference lib="esnext.disposable" preserve="true" />
// What Translator and Trainer share.
import type { Connection } from './connection.js';
import { checkTranslate } from './options.js';
import type { Update } from './protocol.js';
import { fromPlain } from './results.js';
import type { TranslateOptions, Translation } from './types.js';

// Node 20 may not have it yet.
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');

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
