// The models that load() keeps: in Cache Storage, or in Node in a folder.
import { borrowed } from './lent-store.js';
import { isModelKey, type ModelCache } from './model-cache.js';
import { isNode } from './platform.js';
import type { StoredModel } from './types.js';

const cacheName = 'wasmformer-models';
const sizeHeader = 'x-bytes';
const digestHeader = 'x-sha256';

/**
 * Cache Storage, or in Node a folder, for models; undefined without one, or if the browser refuses it: in a private
 * window, or when the disk is full.
 * @internal
 */
export async function openModelCache(store?: MessagePort): Promise<ModelCache | undefined> {
  try {
    if (store) return borrowed(store);
    if ('caches' in globalThis) return await caches.open(cacheName);
    if (!isNode) return undefined;
    return await (await folderCache()).openFolder(cacheName);
  } catch {
    return undefined;
  }
}

// Bundlers for browsers leave this address alone, since only Node needs the file. It is the same from worker/worker.js,
// which has this file inside.
const here = import.meta.url;
const folderCache = () =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ new URL('../shared/folder-cache.js', here).href) as Promise<typeof import('./folder-cache.js')>;

/** Returns whether models can be stored: in Cache Storage, or in Node in a folder. */
export const canCache = () => 'caches' in globalThis || isNode;

/** @internal */
export const storedBytes = (stored: Response) => Number(stored.headers.get(sizeHeader));

/**
 * The response to store `bytes` as; `headers` distinguish this version of the file from others.
 * @internal
 */
export async function toStoredResponse(bytes: Uint8Array<ArrayBuffer>, headers: Headers): Promise<Response> {
  headers.set(sizeHeader, String(bytes.length));
  const digest = await digestOf(bytes);
  if (digest) headers.set(digestHeader, digest);
  return new Response(bytes, { headers });
}

/**
 * Returns whether these are the bytes that were stored, as far as it can be known: a disk may lose some.
 * @internal
 */
export async function isIntact(stored: Response, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const wanted = stored.headers.get(digestHeader);
  return wanted === null || !globalThis.crypto?.subtle || wanted === await digestOf(bytes);
}

/** In hex; undefined where browsers compute none. */
async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const digest = await globalThis.crypto?.subtle?.digest('SHA-256', bytes);
  return digest && [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The models that load() keeps.
 * @example
 * for (const { url, bytes } of await storedModels.list()) if (bytes > 5e7) await storedModels.delete(url);
 */
export const storedModels = {
  /** The models that load() has kept here; empty where models cannot be kept. */
  async list(): Promise<StoredModel[]> {
    const cache = await openModelCache();
    const urls = (await cache?.keys())?.map(({ url }) => url).filter(isModelKey) ?? [];
    const found = await Promise.all(urls.map(async (url) => ({ url, stored: await cache!.match(url) })));
    return found.flatMap(({ url, stored }) => (stored ? [{ url, bytes: storedBytes(stored) }] : []));
  },

  /** Deletes the stored copy; false if this URL has no stored copy. A translator that has loaded it keeps working. */
  async delete(url: string | URL): Promise<boolean> {
    return (await (await openModelCache())?.delete(String(url))) ?? false;
  },

  /** Deletes all of them. */
  async clear(): Promise<void> {
    const cache = await openModelCache();
    if (cache?.clear) return cache.clear();
    await Promise.all((await storedModels.list()).map(({ url }) => storedModels.delete(url)));
  },
};
