// Model files that were dropped or picked, kept in the browser's Cache Storage.

const CACHE = 'wasmformer-files';
const address = (name: string) => new URL(`files/${encodeURIComponent(name)}`, document.baseURI).href;

export interface KeptFile {
  name: string;
  bytes: number;
  languages: string;
}

/** Rejects where the browser has no room for it, or forbids its storage. */
export async function keepFile(file: File, languages: string): Promise<void> {
  const headers = { 'x-bytes': String(file.size), 'x-languages': languages };
  await (await caches.open(CACHE)).put(address(file.name), new Response(file, { headers }));
}

export async function keptFiles(): Promise<KeptFile[]> {
  try {
    const cache = await caches.open(CACHE);
    const responses = await Promise.all((await cache.keys()).map(async (request) => [request.url, await cache.match(request)] as const));
    return responses.flatMap(([url, response]) => {
      if (!response) return [];
      const name = decodeURIComponent(url.split('/').at(-1)!);
      return { name, bytes: Number(response.headers.get('x-bytes')), languages: response.headers.get('x-languages') ?? '' };
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

export async function deleteFile(name: string): Promise<void> {
  await (await caches.open(CACHE)).delete(address(name));
}
