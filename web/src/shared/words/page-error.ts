// Errors of the page itself and of the browser, which the page's workers tell without loading the package.

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

/** The sentence for an address that cannot be fetched. */
export const offline = (url: string) =>
  `${url} could not be fetched: there is no connection, or the server refuses it`;

export const withoutStop = (sentence: string) => sentence.replace(/\.+$/, '');

/** The reason that an error of the page or of the browser gives. */
export function pageReason(error: unknown): Reason {
  if (error instanceof PageError) return { code: error.code, details: error.details, text: error.message };
  if (!(error instanceof Error)) return { code: '', details: {}, text: withoutStop(String(error)) };
  if (error.name === 'QuotaExceededError') {
    return { code: 'storage-full', details: {}, text: "there is not enough space in this browser's storage" };
  }
  return { code: '', details: {}, text: withoutStop(error.message) || error.name };
}
