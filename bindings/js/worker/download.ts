// Reads the bytes of a model: from the cache, the network, a file, or as they were given.
import { fetchFailed, httpStatus, WasmformerError } from '../shared/errors.js';
import { isNode, nodeModule } from '../shared/platform.js';
import { noteUse, shrink, type ModelCache } from '../shared/model-cache.js';
import { isIntact, openModelCache, storedBytes, toStoredResponse } from '../shared/stored-models.js';
import type { Bytes, CacheSettings, ModelData } from '../shared/protocol.js';
import type { RequestSettings } from '../shared/types.js';
import { namedModel, withAdvice } from './named-models.js';

/** An address, and what to send to it. */
export type WebAddress = Pick<Extract<ModelData, { kind: 'url' }>, 'url' | 'request'>;

export type Progress = (loaded: number, total?: number) => void;

/** `name` is for messages; `isCached`: the bytes come from the cache, not from the source. */
export interface ModelFile {
  name: string;
  bytes: Bytes;
  isCached: boolean;
  /** To be called once the bytes are known to be a model. */
  keep(): Promise<void>;
  /** To be called if they are not a model. */
  forget(): Promise<void>;
  /** Call this last: it lets other tabs that wait for this file continue. */
  release?: () => void;
  /** Throws if they are not the bytes that were wanted. */
  check?: () => Promise<void>;
}

const nothing = async () => {};

export const uncached = (name: string, bytes: Bytes): ModelFile =>
  ({ name, bytes, isCached: false, keep: nothing, forget: nothing });

export async function readModel(
  data: ModelData, cache: false | CacheSettings, onProgress: Progress,
): Promise<ModelFile> {
  if (data.kind === 'url' && cache) {
    const get = () => download(data, onProgress, checkBeginning);
    return throughCache(data.url, data.url, cache, onProgress, get, data.request);
  }
  return uncached(nameOf(data), await readBytes(data, onProgress, checkBeginning));
}

type Check = (name: string, bytes: Uint8Array) => void;
const anything: Check = () => {};

/** The bytes of a file; `check` may refuse its first bytes. */
export async function readBytes(data: ModelData, onProgress: Progress, check: Check = anything): Promise<Bytes> {
  switch (data.kind) {
    case 'bytes':
      onProgress(data.bytes.length, data.bytes.length);
      return data.bytes;
    case 'blob': {
      const { blob } = data;
      check(nameOf(data), new Uint8Array(await blob.slice(0, beginning).arrayBuffer()));
      return collect(nameOf(data), chunksOf(blob.stream()), blob.size, onProgress, check);
    }
    case 'path':
      return readPath(data.path, onProgress, check);
    case 'url':
      return (await download(data, onProgress, check)).bytes;
    case 'folder':
    case 'listed':
    case 'hub':
    case 'named': {
      const found = await located(data);
      if (data.kind === 'named') return checked(found, await withAdvice(data, readBytes(found, onProgress, check)));
      if (found.kind === 'path') return readPath(found.path, onProgress, check);
      throw new WasmformerError('load', `${nameOf(found)} is a ${found.kind === 'listed' ? 'list' : 'folder'}; importMarian() or importBert() converts it to a model file`);
    }
  }
}

/** The file of a model by name. A file or a folder at a path, in Node, comes before Hugging Face's model of the same name. */
export async function located(data: ModelData): Promise<ModelData> {
  if (data.kind === 'named') return namedModel(data);
  if (!isNode || data.kind !== 'hub' || data.path === undefined) return data;
  const { stat } = await nodeModule<typeof import('node:fs/promises')>('fs/promises');
  const found = await stat(data.path).catch(() => undefined);
  return found ? { kind: found.isDirectory() ? 'folder' : 'path', path: data.path } : data;
}

export function nameOf(data: ModelData): string {
  switch (data.kind) {
    case 'bytes':
      return 'the given bytes';
    case 'blob':
      return (data.blob as Partial<File>).name ?? 'the given Blob';
    case 'path':
    case 'folder':
      return data.path;
    case 'url':
    case 'hub':
      return data.url;
    case 'named':
      return data.name;
    case 'listed':
      return nameOf(data.list);
  }
}

// A safetensors file begins with the length of its header, and the header with '{'.
const beginning = 9; // bytes
const longestHeader = 100_000_000;

/** Throws if these can only be the first bytes of another kind of file, so that the rest need not be read. */
function checkBeginning(name: string, bytes: Uint8Array): void {
  if (bytes.length < beginning) return;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  if (length > longestHeader || bytes[8] !== '{'.charCodeAt(0)) {
    throw new WasmformerError(
      'not-a-model', `${name} is not a model file: it does not begin as a safetensors file does`, { room: 'load', details: { name } },
    );
  }
}

async function collect(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  total: number | undefined,
  onProgress: Progress,
  check: Check,
): Promise<Bytes> {
  let bytes = new Uint8Array(total ?? 1 << 20);
  let loaded = 0;
  for await (const chunk of chunks) {
    if (loaded + chunk.length > bytes.length) {
      const larger = new Uint8Array(2 * (loaded + chunk.length));
      larger.set(bytes.subarray(0, loaded));
      bytes = larger;
    }
    bytes.set(chunk, loaded);
    const isBeginning = loaded < beginning;
    loaded += chunk.length;
    if (isBeginning) check(name, bytes.subarray(0, loaded));
    onProgress(loaded, total);
  }
  return bytes.subarray(0, loaded);
}

// Not every browser can iterate over a stream.
async function *chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    void reader.cancel().catch(() => {}); // stops the download if the rest is not needed
  }
}

async function readPath(path: string, onProgress: Progress, check: Check): Promise<Bytes> {
  const { createReadStream } = await nodeModule<typeof import('node:fs')>('fs');
  const size = await sizeAt(path);
  try {
    return await collect(path, createReadStream(fileAt(path)), size, onProgress, check);
  } catch (cause) {
    throw isWrongFile(cause) ? cause : readFailed(path, cause);
  }
}

const fileAt = (path: string) => (path.startsWith('file:') ? new URL(path) : path);

/** The size of a file in bytes. */
export async function sizeAt(path: string): Promise<number> {
  const { promises } = await nodeModule<typeof import('node:fs')>('fs');
  try {
    return (await promises.stat(fileAt(path))).size;
  } catch (cause) {
    throw readFailed(path, cause);
  }
}

function readFailed(path: string, cause: unknown): WasmformerError {
  const why = reason(cause);
  return new WasmformerError('read-failed', `${path} could not be read: ${why}`, { room: 'load', details: { path, why }, cause });
}

async function download(
  { url, request }: WebAddress, onProgress: Progress, check: Check,
): Promise<{ bytes: Bytes; headers: Headers }> {
  const response = await fetch(url, request).catch((cause: unknown) => {
    throw fetchFailed('load', url, reason(cause), cause);
  });
  if (!response.ok) throw httpStatus('load', url, response);
  const total = lengthOf(response.headers);
  const bytes = await collect(url, chunksOf(response.body!), total, onProgress, check).catch((cause: unknown) => {
    if (isWrongFile(cause)) throw cause;
    const why = reason(cause);
    throw new WasmformerError('download-broken', `the download of ${url} broke off: ${why}`, { room: 'load', details: { url, why }, cause });
  });
  if (total !== undefined && bytes.length !== total) {
    const details = { url, bytes: bytes.length, total };
    throw new WasmformerError(
      'download-incomplete', `the download of ${url} ended after ${bytes.length} of ${total} bytes`, { room: 'load', details },
    );
  }
  return { bytes, headers: response.headers };
}

/** The length of a compressed answer says nothing about the bytes that come out. */
export function lengthOf(headers: Headers): number | undefined {
  const length = headers.get('content-encoding') ? null : headers.get('content-length');
  return length === null ? undefined : Number(length);
}

const isWrongFile = (error: unknown) => error instanceof WasmformerError && error.code === 'not-a-model';

function reason(thrown: unknown): string {
  const { message, cause } = thrown as Error;
  return cause instanceof Error && cause.message ? cause.message : message;
}

// Headers that distinguish versions of a file, best first; servers may not send all of them.
const versionHeaders = ['etag', 'last-modified', 'content-length'];

// The address whose version counts, if it is not the key.
const sourceHeader = 'x-source';
export const sourceOf = (stored: Response) => stored.headers.get(sourceHeader);

/** Waits until no other tab downloads `key`; the returned function lets the next one start. */
function turn(key: string): Promise<() => void> {
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  if (!locks) return Promise.resolve(() => {});
  return new Promise((resolve, reject) => {
    locks.request(`wasmformer ${key}`, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}

/** Returns the file stored under `key`, or else that of `get`; of several tabs that ask at once, one calls `get`. */
export async function throughCache(
  key: string, name: string, { store, limit }: CacheSettings, onProgress: Progress,
  get: () => Promise<{ bytes: Bytes; headers: Headers; source?: string }>, request?: RequestSettings,
): Promise<ModelFile> {
  const cache = await openModelCache(store);
  const forget = async () => void (await cache?.delete(key));
  const find = async (): Promise<ModelFile | undefined> => {
    const stored = await cache?.match(key);
    if (!stored || !(await isCurrent(sourceOf(stored) ?? key, stored, request))) return undefined;
    const collected = collect(name, chunksOf(stored.body!), storedBytes(stored), onProgress, checkBeginning);
    const bytes = await collected.catch(() => new Uint8Array());
    const isWhole = await isIntact(stored, bytes);
    if (limit !== undefined) await noteUse(cache!, key).catch(() => {});
    return { name, bytes: isWhole ? bytes : new Uint8Array(), isCached: true, keep: nothing, forget };
  };
  const found = await find();
  if (found) return found;
  const release = cache ? await turn(key).catch(() => nothing) : nothing;
  try {
    const other = await find();
    if (other) {
      release();
      return other;
    }
    const { bytes, headers, source } = await get();
    const kept = new Headers(source === undefined ? {} : { [sourceHeader]: source });
    for (const name of versionHeaders) if (headers.has(name)) kept.set(name, headers.get(name)!);
    const keep = async () => {
      if (cache) await keepIn(cache, key, bytes, kept, limit).catch(() => {});
    };
    return { name, bytes, isCached: false, keep, forget, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Stores a model, and makes room for it if there is a limit. */
async function keepIn(cache: ModelCache, key: string, bytes: Bytes, headers: Headers, limit = Infinity): Promise<void> {
  if (bytes.length > limit) return;
  await cache.put(key, await toStoredResponse(bytes, headers));
  if (limit === Infinity) return;
  await noteUse(cache, key);
  await shrink(cache, key, limit, storedBytes);
}

/** Returns whether the server still has the stored version; assumed if the server cannot be asked. */
export async function isCurrent(url: string, stored: Response, request?: RequestSettings): Promise<boolean> {
  const response = await fetch(url, { ...request, method: 'HEAD', cache: 'no-cache' }).catch(() => undefined);
  if (!response?.ok) return true;
  const name = versionHeaders.find((header) => response.headers.has(header) && stored.headers.has(header));
  return name === undefined || response.headers.get(name) === stored.headers.get(name);
}

/** Throws if the bytes do not have the digest `integrity` ('sha256-…'). */
export async function checkIntegrity(name: string, bytes: Bytes, integrity: string): Promise<void> {
  const [algorithm, wanted] = integrity.split(/-(.*)/) as [string, string];
  if (!globalThis.crypto?.subtle) {
    throw new WasmformerError('load', 'integrity cannot be checked here, since browsers compute digests only on https pages and localhost');
  }
  const digest = await crypto.subtle.digest(algorithm.replace('sha', 'SHA-'), bytes);
  const found = btoa(String.fromCharCode(...new Uint8Array(digest)));
  if (found === wanted) return;
  throw new WasmformerError(
    'wrong-digest', `the digest of ${name} is ${algorithm}-${found}, not ${integrity}`, { room: 'load', details: { name } },
  );
}

/** The digest that comes with an address or a path. */
export const recordedDigest = (data: ModelData) => ('integrity' in data ? data.integrity : undefined);

/** The bytes, unless they have another digest than comes with their address. */
async function checked(data: ModelData, bytes: Bytes): Promise<Bytes> {
  const integrity = recordedDigest(data);
  if (integrity !== undefined) await checkIntegrity(nameOf(data), bytes, integrity);
  return bytes;
}

/** `integrity` for a SHA-256 in hex. */
export const integrityOf = (hex: string) => `sha256-${btoa(hex.replace(/../g, (byte) => String.fromCharCode(parseInt(byte, 16) || 0)))}`;
