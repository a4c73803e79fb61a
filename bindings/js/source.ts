// Where a model comes from, brought into a form that can be posted.
import type { ModelData } from './protocol.js';

export function modelData(model: unknown): ModelData {
  if (model instanceof Blob) return { kind: 'blob', blob: model };
  // A copy, so that the caller keeps the bytes. Not by slice(), which in a Buffer of Node gives a view.
  if (model instanceof Uint8Array) return { kind: 'bytes', bytes: new Uint8Array(model) };
  if (model instanceof ArrayBuffer) return { kind: 'bytes', bytes: new Uint8Array(model.slice(0)) };
  if (model instanceof URL) return urlData(model);
  if (typeof model !== 'string') {
    throw new TypeError(`[load] the model must be a URL, a path, a Blob, an ArrayBuffer or a Uint8Array, not ${model}`);
  }
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  if (base !== undefined) return urlData(new URL(model, base));
  // One letter before the colon is a drive of Windows.
  return /^[a-z][a-z0-9+.-]+:/i.test(model) ? urlData(new URL(model)) : { kind: 'path', path: model };
}

function urlData(url: URL): ModelData {
  const isFile = url.protocol === 'file:' && globalThis.document === undefined;
  return isFile ? { kind: 'path', path: url.href } : { kind: 'url', url: url.href };
}

/** The default of the option `cache`; throws where it is asked for and cannot be. */
export function cacheOption(model: ModelData, wanted: boolean | undefined): boolean {
  const isWeb = model.kind === 'url' && /^https?:/.test(model.url);
  if (wanted && !isWeb) throw new Error('[load] cache is true, but only models from http(s) URLs can be cached');
  if (wanted && !('caches' in globalThis)) {
    throw new Error('[load] cache is true, but there is no Cache Storage here; browsers have it on https pages');
  }
  return wanted ?? (isWeb && 'caches' in globalThis);
}
