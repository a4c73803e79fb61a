import type { ModelStore } from './load-types.js';

export type { ModelStore } from './load-types.js';

/** The part of Cache Storage that is used, whose types projects for Node lack; only folders have clear(). */
export interface ModelCache extends ModelStore {
  clear?(): Promise<void>;
}

// The address under which it stands is of no server.
const usesKey = 'https://wasmformer.invalid/uses';

/** Returns whether this is the address of a model, and not of what is kept about all of them. */
export const isModelKey = (url: string) => url !== usesKey;

/** When each model was used last, by its address, in milliseconds. */
async function usesIn(cache: ModelCache): Promise<Record<string, number>> {
  const stored = await cache.match(usesKey);
  return stored ? stored.json().catch(() => ({})) as Promise<Record<string, number>> : {};
}

/** Notes that a model is used now. */
export async function noteUse(cache: ModelCache, key: string): Promise<void> {
  const uses = { ...await usesIn(cache), [key]: Date.now() };
  await cache.put(usesKey, new Response(JSON.stringify(uses)));
}

/** Deletes the models that were used longest ago until all take at most `limit` bytes; `key` stays. */
export async function shrink(
  cache: ModelCache, key: string, limit: number, bytesOf: (stored: Response) => number,
): Promise<void> {
  const uses = await usesIn(cache);
  const urls = (await cache.keys()).map(({ url }) => url).filter(isModelKey);
  const size = async (url: string) => {
    const stored = await cache.match(url);
    return { url, bytes: stored ? bytesOf(stored) : 0 };
  };
  const models = await Promise.all(urls.map(size));
  const others = models.filter(({ url }) => url !== key).sort((a, b) => (uses[a.url] ?? 0) - (uses[b.url] ?? 0));
  let total = models.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { url, bytes } of others) {
    if (total <= limit) return;
    await cache.delete(url);
    total -= bytes;
  }
}
