// Keeps models in a folder, for Node.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import type { ModelCache } from './model-cache.js';

/** As much of Cache Storage as is used here: each file's bytes, and its address and headers beside them. */
export async function openFolder(name: string): Promise<ModelCache> {
  // The XDG Base Directory Specification has relative paths ignored.
  const given = process.env.XDG_CACHE_HOME ?? '';
  const folder = `${isAbsolute(given) ? given : `${homedir()}/.cache`}/${name}`;
  const place = (key: string) => `${folder}/${createHash('sha256').update(key).digest('hex')}`;
  const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as { url: string; headers: [string, string][] };
  const namesIn = () => readdir(folder).catch((): string[] => []);
  return {
    async match(key) {
      const path = place(key);
      const about = await read(`${path}.json`).catch(() => undefined);
      if (!about || !(await stat(path).catch(() => undefined))) return undefined;
      const pull = async (body: ReadableStreamDefaultController) => {
        body.enqueue(await readFile(path));
        body.close();
      };
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers: about.headers });
    },
    async put(key, response) {
      await mkdir(folder, { recursive: true });
      const path = place(key);
      const about = JSON.stringify({ url: key, headers: [...response.headers] });
      const own = `${path}.${randomUUID()}`; // whole or absent, whoever else writes it
      try {
        await writeFile(own, new Uint8Array(await response.arrayBuffer()));
        await rename(own, path);
        await writeFile(own, about);
        await rename(own, `${path}.json`);
      } finally {
        await rm(own, { force: true });
      }
    },
    async delete(key) {
      const path = place(key);
      await rm(path, { force: true });
      return rm(`${path}.json`).then(() => true, () => false);
    },
    async keys() {
      const names = (await namesIn()).filter((name) => name.endsWith('.json'));
      const readable = async (name: string) => [{ url: (await read(`${folder}/${name}`)).url }];
      return (await Promise.all(names.map((name) => readable(name).catch(() => [])))).flat();
    },
    /** Also what is damaged, or was left by a program that broke off. */
    async clear() {
      const names = (await namesIn()).filter((name) => /^[0-9a-f]{64}(\.|$)/.test(name));
      await Promise.all(names.map((name) => rm(`${folder}/${name}`, { force: true })));
    },
  };
}
