// The models that load() keeps in the browser's Cache Storage.
import type { StoredModel } from './types.js';

const cacheName = 'wasmformer-models';
const sizeHeader = 'x-bytes';

/** Undefined where there is no storage, or the browser refuses it: in a private window, or when the disk is full. */
export async function openStorage(): Promise<Cache | undefined> {
  try {
    return await caches.open(cacheName);
  } catch {
    return undefined;
  }
}

export const bytesOf = (stored: Response) => Number(stored.headers.get(sizeHeader));

/** What to store `bytes` as; `headers` tell this version of it from others. */
export function storable(bytes: Uint8Array<ArrayBuffer>, headers: Headers): Response {
  headers.set(sizeHeader, String(bytes.length));
  return new Response(bytes, { headers });
}

export const storedModels = {
  /** The models that load() has kept in this browser; none where there is no Cache Storage. */
  async list(): Promise<StoredModel[]> {
    const storage = await openStorage();
    const urls = (await storage?.keys())?.map(({ url }) => url) ?? [];
    const found = await Promise.all(urls.map(async (url) => ({ url, stored: await storage!.match(url) })));
    return found.flatMap(({ url, stored }) => (stored ? { url, bytes: bytesOf(stored) } : []));
  },

  /** Frees the storage of one; false where there was none of this URL. A translator that has loaded it goes on. */
  async delete(url: string | URL): Promise<boolean> {
    return (await (await openStorage())?.delete(String(url))) ?? false;
  },

  /** Frees the storage of all. */
  async clear(): Promise<void> {
    await Promise.all((await storedModels.list()).map(({ url }) => storedModels.delete(url)));
  },
};
