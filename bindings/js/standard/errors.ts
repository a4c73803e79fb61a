// Errors as the standard has them: DOMExceptions, which are told apart by their names.
import { WasmformerError } from '../shared/errors.js';

// A frame that has been removed no longer has this global.
const { DOMException } = globalThis;

/** A DOMException; `cause`: the error of the package that it stands for. */
export function domError(name: string, message: string, cause?: unknown): InstanceType<typeof DOMException> {
  const error = new DOMException(message, name);
  if (cause !== undefined) Object.defineProperty(error, 'cause', { value: cause, configurable: true, writable: true });
  return error;
}

/** The error of an input that is too long; new browsers have a class for it. */
export function quotaExceeded(requested: number, quota: number): InstanceType<typeof DOMException> {
  const message = `the input takes ${requested} of a quota of ${quota}`;
  type Quota = new (message: string, values: { requested: number; quota: number }) => InstanceType<typeof DOMException>;
  const { QuotaExceededError } = globalThis as { QuotaExceededError?: Quota };
  if (QuotaExceededError) return new QuotaExceededError(message, { requested, quota });
  return Object.assign(domError('QuotaExceededError', message), { requested, quota });
}

const ofNetwork = new Set(['fetch-failed', 'not-found', 'http-status', 'download-broken', 'download-incomplete']);

/**
 * Error for the caller: a failed download becomes a NetworkError, another error of the package a DOMException
 * named `otherwise`. Anything else, such as the reason of a signal, is returned unchanged.
 */
export function asDomError(error: unknown, otherwise: 'OperationError' | 'UnknownError'): unknown {
  if (!(error instanceof WasmformerError)) return error;
  return domError(ofNetwork.has(error.code) ? 'NetworkError' : otherwise, error.message, error);
}

/** @throws an InvalidStateError in a frame that has been removed from its page */
export function checkActive(): void {
  const { document } = globalThis as { document?: Document };
  if (document && !document.defaultView) throw domError('InvalidStateError', 'the document is not active any more');
}
