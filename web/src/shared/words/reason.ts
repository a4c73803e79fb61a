// What went wrong, as the page says it.
import { WasmformerError } from 'wasmformer';

/** An error by its code, with the values and the English sentence that it has. `code` is '' for those of others. */
export interface Reason {
  code: string;
  details: Readonly<Record<string, string | number>>;
  text: string;
}

/** An error of the page itself, with a code of reasons.zh.json. */
export class PageError extends Error {
  readonly code: string;
  readonly details: Reason['details'];

  constructor(code: string, sentence: string, details: Reason['details'] = {}) {
    super(sentence);
    this.code = code;
    this.details = details;
  }
}

/** What an error says, without the tags of the package, to stand after a colon. */
export function reason(error: unknown): Reason {
  if (error instanceof WasmformerError || error instanceof PageError) {
    const { code, details } = error;
    // Each browser has its own words for it.
    if (code === 'fetch-failed') return { code, details, text: `${details.url} could not be fetched: there is no connection, or the server refuses it` };
    return { code, details, text: withoutStop(error instanceof WasmformerError ? error.sentence : error.message) };
  }
  if (!(error instanceof Error)) return { code: '', details: {}, text: withoutStop(String(error)) };
  if (error.name === 'QuotaExceededError') {
    return { code: 'storage-full', details: {}, text: "there is not enough space in this browser's storage" };
  }
  return { code: '', details: {}, text: withoutStop(error.message) || error.name };
}

const withoutStop = (sentence: string) => sentence.replace(/\.+$/, '');

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
