// Errors of the package: a code, which is stable, the values that the sentence tells, and the sentence, which is not. The
// module's errors have their codes from src/include/wasmformer/error.h.

/** The values that an error's sentence tells, by name. */
export type ErrorDetails = Readonly<Record<string, string | number>>;

/** Properties of an error besides its code and its sentence. */
export interface ErrorSettings {
  /** The part of the package, which the sentence begins with, in brackets; the code if it is not given. */
  room?: string;
  /** The whole text, if it is known already; else the room and the sentence. */
  message?: string;
  details?: ErrorDetails;
  cause?: unknown;
}

// tests/codes.mjs makes a package in which it returns the code, which proves that nothing reads a sentence.
function messageOf(_code: string, sentence: string): string {
  return sentence;
}

const mark = Symbol.for('wasmformer.error');

/**
 * An error of the package. Its `code` is stable; its sentence may change. Errors in arguments are also TypeErrors
 * or RangeErrors; `instanceof WasmformerError` is true for them too.
 * @example
 * const translator = await Translator.load('models/de-en.safetensors');
 * try {
 *   await translator.translate('word '.repeat(1000));
 * } catch (error) {
 *   if (!(error instanceof WasmformerError) || error.code !== 'too-long') throw error;
 *   console.log(`${error.details.tokens} tokens, but at most ${error.details.most} are possible`);
 * }
 * translator.dispose();
 */
export class WasmformerError extends Error {
  readonly code: string;
  readonly details: ErrorDetails;
  /** The message without the part of the package in brackets. */
  readonly sentence: string;

  /** @hidden */
  constructor(code: string, sentence: string, { room = code, details = {}, cause, message }: ErrorSettings = {}) {
    super(messageOf(code, message ?? `[${room}] ${sentence}`), cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.sentence = messageOf(code, sentence);
  }

  /** Also true for the TypeErrors and RangeErrors of the package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== WasmformerError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && mark in value;
  }
}

/** An error in an argument, which is a TypeError too. */
export class WasmformerTypeError extends WasmformerError {}

/** An index that is out of range, which is a RangeError too. */
export class WasmformerRangeError extends WasmformerError {}

// One prototype has one chain, so those of arguments are below the classes of JavaScript, and the mark tells whose they are.
Object.setPrototypeOf(WasmformerTypeError.prototype, TypeError.prototype);
Object.setPrototypeOf(WasmformerRangeError.prototype, RangeError.prototype);
for (const { prototype } of [WasmformerError, WasmformerTypeError, WasmformerRangeError]) {
  Object.defineProperty(prototype, mark, { value: true });
}

/** An error as it crosses to the page. */
export interface PlainError {
  name: string;
  message: string;
  stack?: string;
  code: string;
  sentence: string;
  details: ErrorDetails;
}

/** The code of an error that is not the package's, such as a defect. */
export const otherCode = 'other';

/** Converts any thrown value to plain data, with `otherCode` if it is not an error of the package. */
export function toPlainError(thrown: unknown): PlainError {
  const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
  const known = thrown instanceof WasmformerError ? thrown : { code: otherCode, sentence: message, details: {} };
  return { name, message, stack, code: known.code, sentence: known.sentence, details: known.details };
}

const classes: Record<string, typeof WasmformerError> = {
  TypeError: WasmformerTypeError,
  RangeError: WasmformerRangeError,
};

/** The error again, of its class. */
export function fromPlainError({ name, message, code, sentence, details }: PlainError): WasmformerError {
  const error = new (classes[name] ?? WasmformerError)(code, sentence, { message, details });
  if (name !== error.name) error.name = name;
  return error;
}

/** The error of an address that gives no answer. */
export const fetchFailed = (room: string, url: string, why: string, cause: unknown) =>
  new WasmformerError('fetch-failed', `${url} could not be fetched: ${why}`, { room, details: { url, why }, cause });

/** The error of an address that answers without the file. */
export function httpStatus(room: string, url: string, { status, statusText = '' }: { status: number; statusText?: string }) {
  const answer = `${status} ${statusText}`.trim();
  const code = status === 404 ? 'not-found' : 'http-status';
  return new WasmformerError(code, `${url} answered ${answer}`, { room, details: { url, status, answer } });
}

/** The same error with text before its sentence, and further details. */
export function preceded(error: WasmformerError, text: string, further: ErrorDetails): WasmformerError {
  const plain = toPlainError(error);
  const [message, sentence] = [text + plain.message, text + plain.sentence];
  const whole = fromPlainError({ ...plain, message, sentence, details: { ...plain.details, ...further } });
  whole.cause = error.cause;
  whole.stack = plain.stack;
  return whole;
}

/** The same error of a text: it says which one, unless it does already. `number` counts from 1. */
export function ofText(error: WasmformerError, number: number): WasmformerError {
  return error.details.number === undefined ? preceded(error, `text ${number}: `, { number }) : error;
}

/** The same error of a file: it says which one, unless it does already. */
export function ofFile(error: WasmformerError, file: string): WasmformerError {
  return Object.values(error.details).includes(file) ? error : preceded(error, `${file}: `, { file });
}
