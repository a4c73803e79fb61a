// Hugging Face models by name, and models in lists: downloaded and converted once, and the result is kept.
import { fetchFailed, httpStatus, WasmformerError } from '../shared/errors.js';
import { openModelCache } from '../shared/stored-models.js';
import type { CacheSettings, HubData, ListData, ModelData, Wanted } from '../shared/protocol.js';
import type { Estimate, RequestSettings } from '../shared/types.js';
import { convertFolder, folderAt, hostedFolder, listedFolder, weightsOf, type Folder } from './conversion.js';
import {
  checkIntegrity, isCurrent, lengthOf, located, nameOf, readModel, recordedDigest, sizeAt, sourceOf, throughCache,
  uncached, type ModelFile, type Progress, type WebAddress,
} from './download.js';
import { withAdvice } from './named-models.js';

type Converted = HubData | ListData | Extract<ModelData, { kind: 'folder' }>;
const isConverted = (data: ModelData): data is Converted => ['hub', 'listed', 'folder'].includes(data.kind);

// Includes the wanted digest, so that a stored model is one whose weights matched it.
const keyOf = (data: Converted, integrity: string | undefined) => `${nameOf(data)}?${String(new URLSearchParams(
  Object.entries({ ...data, integrity }).filter(([key, value]) => value !== undefined && !/^(kind|url|path|list|request)$/.test(key)) as string[][],
))}`;

/** Settings of requests to the host of a model or of its list. */
function requestOf(data: ModelData): RequestSettings | undefined {
  const from = data.kind === 'listed' ? data.list : data;
  return from.kind === 'url' || from.kind === 'hub' ? from.request : undefined;
}

/** The bytes of a model file from any source; folders, Hugging Face models and models in lists are converted to one. */
export async function readAny(
  given: ModelData, cache: false | CacheSettings, integrity: string | undefined, onProgress: Progress,
): Promise<ModelFile> {
  const data = await located(given);
  if (!isConverted(data)) {
    const file = await withAdvice(given, readModel(data, cache, onProgress));
    const digest = integrity ?? recordedDigest(data);
    const check = digest === undefined ? undefined : () => checkIntegrity(file.name, file.bytes, digest);
    return { ...file, check };
  }
  const name = nameOf(data);
  const get = async () => {
    const { folder, ...version } = await folderOf(data);
    if (integrity !== undefined) {
      const weights = weightsOf(Object.keys(folder));
      if (!weights) throw new WasmformerError('load', `integrity is given, but ${name} has no weights to check`);
      folder[weights] = { ...folder[weights]!, integrity };
    }
    return { bytes: await convertFolder(folder, (given as HubData).precision, '', onProgress), ...version };
  };
  if (!cache || data.kind === 'folder') return uncached(name, (await get()).bytes);
  return throughCache(keyOf(data, integrity), name, cache, onProgress, get, requestOf(data));
}

/** The files of a model, and the headers and address by which a new version is noticed. */
async function folderOf(data: Converted): Promise<{ folder: Folder; headers: Headers; source: string }> {
  if (data.kind === 'folder') return { folder: await folderAt(data), headers: new Headers(), source: '' };
  const version = async () => (data.kind === 'listed' && data.list.kind === 'url' ? head(data.list) : new Headers());
  if (data.kind === 'listed') return { folder: await listedFolder(data), headers: await version(), source: nameOf(data) };
  const { folder, heads } = await hostedFolder(data);
  const { status, ok } = heads.get('config.json')!;
  if (!ok) throw httpStatus('load', `${data.url}config.json`, { status });
  const name = weightsOf(Object.keys(folder));
  if (name !== undefined) return { folder, headers: heads.get(name)!.headers, source: `${data.url}${name}` };
  const { url } = data;
  throw new WasmformerError(
    'hub-no-weights', `${url} has neither model.safetensors nor pytorch_model.bin; other weights, such as ONNX, cannot be read`,
    { room: 'load', details: { url } },
  );
}

/** Estimates what readAny() would download. */
export async function estimate({ model, ...how }: Wanted<'estimate'>): Promise<Estimate> {
  return withAdvice(model, estimateOf(await located(model), how));
}

async function estimateOf(data: ModelData, { cache, integrity }: Omit<Wanted<'estimate'>, 'model'>): Promise<Estimate> {
  if (data.kind === 'path') await sizeAt(data.path); // throws if the file is missing
  if (data.kind !== 'url' && data.kind !== 'hub' && data.kind !== 'listed') return { download: 0, isStored: true };
  const key = data.kind === 'url' ? data.url : keyOf(data, integrity);
  const stored = cache ? await (await openModelCache(cache.store))?.match(key) : undefined;
  const isOfNow = stored && (await isCurrent(sourceOf(stored) ?? key, stored, requestOf(data)));
  if (isOfNow) return { download: 0, isStored: true };
  const files = data.kind === 'url' ? [data] : Object.values((await folderOf(data)).folder);
  const lengths = await Promise.all(files.map(async (file: Folder[string]) =>
    file.length ?? (file.kind === 'url' ? lengthOf(await head(file)) : 0) ?? NaN));
  const download = lengths.reduce((sum, length) => sum + length, 0);
  return { ...(!Number.isNaN(download) && { download }), isStored: false };
}

async function head({ url, request }: WebAddress): Promise<Headers> {
  const response = await fetch(url, { ...request, method: 'HEAD' }).catch((cause: unknown) => {
    throw fetchFailed('load', url, (cause as Error).message, cause);
  });
  if (!response.ok) throw httpStatus('load', url, { status: response.status });
  return response.headers;
}
