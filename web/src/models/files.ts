// Model files that were dropped or picked, kept in the browser's Cache Storage.
import { PageError } from '../shared/words/reason';

const CACHE = 'wasmformer-files';
const address = (name: string) => new URL(`files/${encodeURIComponent(name)}`, document.baseURI).href;

/** A model's name without its suffix, which an address in brackets may follow. */
export const bareName = (name: string) => name.replace(/\.safetensors(?= \(|$)/, '');

export interface KeptFile {
  name: string;
  bytes: number;
  languages: string;
}

/** Kind of the model in a file; each kind is listed where it is used. */
export type FileKind = 'translator' | 'encoder';

/**
 * Resolves to the name that the file is kept under: its own, or 'NAME (2)' where another file is kept under that.
 * Rejects where the browser has no room for it, or forbids its storage.
 */
export async function keepFile(file: File, languages: string, kind: FileKind = 'translator'): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
  const headers = {
    'x-bytes': String(file.size),
    'x-languages': languages,
    'x-sha256': digest.join(),
    'x-kind': kind,
  };
  const cache = await caches.open(CACHE);
  for (let count = 1; ; ++count) {
    const name = count === 1 ? file.name : file.name.replace(/(\.\w+)?$/, ` (${count})$1`);
    const there = await cache.match(address(name));
    if (there && there.headers.get('x-sha256') !== headers['x-sha256']) continue;
    if (!there) await cache.put(address(name), new Response(file, { headers }));
    return name;
  }
}

export async function keptFiles(kind: FileKind = 'translator'): Promise<KeptFile[]> {
  try {
    const cache = await caches.open(CACHE);
    const responses = await Promise.all(
      (await cache.keys()).map(async (request) => [request.url, await cache.match(request)] as const),
    );
    return responses.flatMap(([url, response]) => {
      if (!response || (response.headers.get('x-kind') ?? 'translator') !== kind) return [];
      const name = decodeURIComponent(url.split('/').at(-1)!);
      return {
        name,
        bytes: Number(response.headers.get('x-bytes')),
        languages: response.headers.get('x-languages') ?? '',
      };
    });
  } catch {
    return []; // no storage here, or it is forbidden
  }
}

export async function readFile(name: string): Promise<Blob | undefined> {
  try {
    return await (await (await caches.open(CACHE)).match(address(name)))?.blob();
  } catch {
    return undefined;
  }
}

export const notStored = (name: string) =>
  new PageError('not-stored', `${name} is no longer stored in this browser`, { name });

export const deleteFile = async (name: string) => (await caches.open(CACHE)).delete(address(name));
