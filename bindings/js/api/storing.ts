// How the worker is to store a model that it loads: not at all, where it usually does, or in a store of the caller's.
import { WasmformerError } from '../shared/errors.js';
import { lend } from '../shared/lent-store.js';
import type { CacheSettings, ModelData } from '../shared/protocol.js';
import { canCache } from '../shared/stored-models.js';
import type { LoadOptions, ModelStore } from '../shared/types.js';

/** Without an address, a package on the web. */
const isHttp = (address = 'https:') => /^https?:/.test(address);

/** The option `cache` or its default. Throws if it is wanted and impossible. */
export function shouldCache(model: ModelData, wanted: boolean | ModelStore | undefined): boolean {
  const from = model.kind === 'listed' ? model.list : model;
  const isConverted = model.kind === 'hub' || model.kind === 'listed';
  const isWeb = from.kind === 'hub' || (from.kind === 'url' && isHttp(from.url))
    || (from.kind === 'named' && !from.installed && isHttp(from.folder));
  const isOwn = typeof wanted === 'object';
  const given = isOwn ? 'a store' : 'true';
  if (wanted && !isWeb) throw new WasmformerError('load', `cache is ${given}, but only models from http(s) URLs can be cached`);
  if (wanted && !isOwn && !canCache()) {
    throw new WasmformerError('load', 'cache is true, but there is no Cache Storage here; browsers offer it only on https pages and localhost');
  }
  if (wanted !== undefined) return wanted !== false;
  return isWeb && (isConverted ? canCache() : 'caches' in globalThis);
}

/** The options `cache` and `cacheLimit` in the form that the worker takes; `end` takes a lent store back. */
export interface Storing {
  settings: false | CacheSettings;
  end(): void;
}

export function storingOf(model: ModelData, { cache, cacheLimit }: Pick<LoadOptions, 'cache' | 'cacheLimit'>): Storing {
  if (!shouldCache(model, cache)) return { settings: false, end: () => {} };
  const limit = cacheLimit === undefined ? {} : { limit: cacheLimit };
  if (typeof cache !== 'object') return { settings: limit, end: () => {} };
  const { port, end } = lend(cache);
  return { settings: { store: port, ...limit }, end };
}

/** Objects transferred with a model: its bytes, and the port to a store that was lent. */
export function transferOf(model: ModelData | undefined, cache: false | CacheSettings): (ArrayBuffer | MessagePort)[] {
  return [...(model?.kind === 'bytes' ? [model.bytes.buffer] : []), ...(cache && cache.store ? [cache.store] : [])];
}
