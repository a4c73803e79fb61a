// A caller's own store of models: the page lends it to the worker, which asks by messages.
import type { ModelCache, ModelStore } from './model-cache.js';

/** A response as it crosses. */
interface StoredFile {
  headers: [string, string][];
  bytes: ArrayBuffer;
}
type Wish = { method: 'match' | 'delete'; key: string } | { method: 'put'; key: string; file: StoredFile } | { method: 'keys' };
interface Wished {
  id: number;
  wish: Wish;
}
interface Granted {
  id: number;
  result?: unknown;
  /** Why it failed. */
  error?: string;
}

/** The last message of a page that lends its store. */
interface Ended {
  isEnded: true;
}

const toFile = async (response: Response): Promise<StoredFile> =>
  ({ headers: [...response.headers], bytes: await response.arrayBuffer() });
const toResponse = ({ headers, bytes }: StoredFile) => new Response(bytes, { headers });

async function grant(store: ModelStore, wish: Wish): Promise<unknown> {
  switch (wish.method) {
    case 'match': {
      const found = await store.match(wish.key);
      return found && toFile(found);
    }
    case 'put':
      return void (await store.put(wish.key, toResponse(wish.file)));
    case 'delete':
      return store.delete(wish.key);
    case 'keys':
      return (await store.keys()).map(({ url }) => ({ url }));
  }
}

/** A port by which a worker can use the store, until end() is called. */
export function lend(store: ModelStore): { port: MessagePort; end(): void } {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data: { id, wish } }: MessageEvent<Wished>) => {
    const answer = (rest: Omit<Granted, 'id'>) => port1.postMessage({ id, ...rest });
    grant(store, wish).then((result) => answer({ result }), (error: unknown) => answer({ error: String(error) }));
  };
  const end = () => {
    port1.postMessage({ isEnded: true } satisfies Ended);
    port1.close();
  };
  return { port: port2, end };
}

/** The store at the other end of a port. Once that ends, what is asked fails instead of waiting for ever. */
export function borrowed(port: MessagePort): ModelCache {
  const waiting = new Map<number, (granted: Granted) => void>();
  const error = 'the page does not lend its store any more';
  let isEnded = false;
  port.onmessage = ({ data }: MessageEvent<Granted | Ended>) => {
    if ('isEnded' in data) {
      isEnded = true;
      for (const [id, take] of waiting) take({ id, error });
      waiting.clear();
      return;
    }
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
  };
  let last = 0;
  const ask = (wish: Wish) => new Promise((resolve, reject) => {
    if (isEnded) throw new Error(error);
    const id = ++last;
    const take = ({ error, result }: Granted) => (error === undefined ? resolve(result) : reject(new Error(error)));
    waiting.set(id, take);
    port.postMessage({ id, wish } satisfies Wished);
  });
  return {
    async match(key) {
      const found = await ask({ method: 'match', key }) as StoredFile | undefined;
      return found && toResponse(found);
    },
    put: async (key, response) => void (await ask({ method: 'put', key, file: await toFile(response) })),
    delete: (key) => ask({ method: 'delete', key }) as Promise<boolean>,
    keys: () => ask({ method: 'keys' }) as Promise<{ url: string }[]>,
  };
}
