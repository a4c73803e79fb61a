// Errors in the words of the page.
import { WasmformerError } from 'wasmformer';
import { offline, pageReason, withoutStop, type Reason } from './page-error';

export { PageError, type Reason } from './page-error';

/** Text of an error without the tags of the package, to stand after a colon. */
export function reason(error: unknown): Reason {
  if (!(error instanceof WasmformerError)) return pageReason(error);
  const { code, details, sentence } = error;
  // Each browser has its own words for it.
  const isOffline = code === 'fetch-failed';
  return { code, details, text: isOffline ? offline(String(details.url)) : withoutStop(sentence) };
}

/** Sentences by codes, with {placeholders} for details; other words of the table stand for values of theirs. */
export type Retelling = Readonly<Record<string, string>>;

/** Says it in the language of `table`, or in English where the table has no such code. */
export function retell({ code, details, text }: Reason, table: Retelling): string {
  const sentence = table[code];
  if (sentence === undefined) return text;
  const value = (name: string) => String(table[`${name}:${details[name]}`] ?? details[name] ?? '');
  const said = sentence.replace(/\{(\w+)\}/g, (_, name: string) => value(name));
  return details.file === undefined ? said : `${details.file}：${said}`;
}
