// Models of Hugging Face by name: their files are downloaded and converted once, and what comes out is kept.
import { openModelCache } from '../shared/platform.js';
import type { HubData, ModelData, Wanted } from '../shared/protocol.js';
import type { Estimate } from '../shared/types.js';
import { convertFolder, folderAt, hostedFolder, weights, weightsOf } from './conversion.js';
import {
  checkIntegrity, isCurrent, lengthOf, located, readModel, sourceOf, throughCache, uncached, type ModelFile, type Progress,
} from './download.js';

// A stored model was made of weights with this digest, if one was wanted.
const keyOf = ({ url, precision }: HubData, integrity: string | undefined) =>
  `${url}?${String(new URLSearchParams({ precision, ...(integrity && { integrity }) }))}`;

/** The bytes of a model file, from wherever it comes; a folder by name is converted to one. */
export async function readAny(
  given: ModelData, useCache: boolean, integrity: string | undefined, onProgress: Progress,
): Promise<ModelFile> {
  const data = await located(given);
  if (data.kind === 'folder') {
    const folder = await folderAt(data);
    const name = weights.find((name) => name in folder);
    if (!name && integrity !== undefined) throw new Error(`[load] ${data.path} has no weights to check the integrity of`);
    const check = integrity === undefined ? undefined : [name!, integrity] as const;
    return uncached(data.path, await convertFolder(folder, (given as HubData).precision, '', onProgress, undefined, check));
  }
  if (data.kind !== 'hub') {
    const file = await readModel(data, useCache, onProgress);
    const check = integrity === undefined ? undefined : () => checkIntegrity(file.name, file.bytes, integrity);
    return { ...file, check };
  }
  const get = async () => {
    const { folder, heads } = await hostedFolder(data.url);
    const name = weightsOf(heads);
    if (name === undefined) {
      const { status, ok } = heads.get('config.json')!;
      throw new Error(ok
        ? `[load] ${data.url} has neither model.safetensors nor pytorch_model.bin; other weights, such as ONNX, cannot be read`
        : `[load] ${data.url}config.json answered ${status}`);
    }
    const check = integrity === undefined ? undefined : [name, integrity] as const;
    const bytes = await convertFolder(folder, data.precision, '', onProgress, heads, check);
    return { bytes, headers: heads.get(name)!.headers, source: `${data.url}${name}` };
  };
  return useCache ? throughCache(keyOf(data, integrity), data.url, onProgress, get) : uncached(data.url, (await get()).bytes);
}

/** What readAny() would download, without doing it. */
export async function estimate({ model, cache, integrity }: Wanted<'estimate'>): Promise<Estimate> {
  const data = await located(model);
  if (data.kind !== 'url' && data.kind !== 'hub') return { download: 0, isStored: true };
  const key = data.kind === 'hub' ? keyOf(data, integrity) : data.url;
  const stored = cache ? await (await openModelCache())?.match(key) : undefined;
  if (stored && (await isCurrent(sourceOf(stored) ?? key, stored))) return { download: 0, isStored: true };
  const download = data.kind === 'hub' ? await folderLength(data.url) : lengthOf(await head(data.url));
  return { ...(download !== undefined && { download }), isStored: false };
}

async function head(url: string): Promise<Headers> {
  const response = await fetch(url, { method: 'HEAD' }).catch((cause: unknown) => {
    throw new Error(`[load] ${url} could not be fetched: ${(cause as Error).message}`, { cause });
  });
  if (!response.ok) throw new Error(`[load] ${url} answered ${response.status}`);
  return response.headers;
}

async function folderLength(url: string): Promise<number | undefined> {
  const { folder, heads } = await hostedFolder(url);
  if (!heads.get('config.json')!.ok) throw new Error(`[load] ${url}config.json answered ${heads.get('config.json')!.status}`);
  const lengths = Object.keys(folder).map((name) => lengthOf(heads.get(name)!.headers) ?? NaN);
  const sum = lengths.reduce((all, length) => all + length, 0);
  return Number.isNaN(sum) ? undefined : sum;
}
