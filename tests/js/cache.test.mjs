// The cache of downloaded models, over a stand-in for a browser's Cache Storage.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { readModel } from '../../dist/worker/download.js';
import { storedModels } from '../../dist/index.js';
import { borrowed, lend } from '../../dist/shared/lent-store.js';
import { serve } from './support.mjs';

let stored;
beforeEach(() => {
  stored = new Map();
  globalThis.caches = {
    open: async () => ({
      match: async (url) => stored.get(new URL(url).href)?.clone(),
      put: async (url, response) => void stored.set(new URL(url).href, response),
      delete: async (url) => stored.delete(new URL(url).href),
      keys: async () => [...stored.keys()].map((url) => new Request(url)),
    }),
  };
});

async function site(t) {
  const state = { body: 'first', downloads: 0, isUp: true };
  state.url = await serve(t, ({ method }, response) => {
    if (!state.isUp) return response.destroy();
    if (method === 'GET') state.downloads++;
    response.writeHead(200, { etag: `"${state.body}"`, 'content-length': state.body.length });
    response.end(method === 'GET' ? state.body : undefined);
  });
  state.read = async () => {
    const seen = [];
    const file = await readModel({ kind: 'url', url: state.url }, true, (...values) => seen.push(values));
    return { ...file, text: new TextDecoder().decode(file.bytes), seen };
  };
  return state;
}

test('a model is stored only after it has proved to be one', async (t) => {
  const { read } = await site(t);
  const file = await read();
  assert.equal(stored.size, 0);
  await file.keep();
  assert.equal(stored.size, 1);
});

test('a stored model is not downloaded again, and progress still reports its size', async (t) => {
  const state = await site(t);
  await (await state.read()).keep();
  const { text, isCached, seen } = await state.read();
  assert.deepEqual([text, isCached, state.downloads], ['first', true, 1]);
  assert.deepEqual(seen.at(-1), [5, 5]);
});

test('a newer version on the server replaces the stored one', async (t) => {
  const state = await site(t);
  await (await state.read()).keep();
  state.body = 'other';
  assert.equal((await state.read()).text, 'other');
});

test('if the server is down, the stored model is used', async (t) => {
  const state = await site(t);
  await (await state.read()).keep();
  state.isUp = false;
  assert.equal((await state.read()).text, 'first');
});

test('a forgotten model is downloaded again', async (t) => {
  const state = await site(t);
  await (await state.read()).keep();
  await (await state.read()).forget();
  assert.deepEqual([(await state.read()).isCached, state.downloads], [false, 2]);
});

/** Locks as browsers have them: one holder per name, the others in the order of their requests. */
function giveLocks(t) {
  const last = new Map();
  const request = (name, use) => {
    const held = (last.get(name) ?? Promise.resolve()).then(use);
    last.set(name, held.catch(() => {}));
    return held;
  };
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  Object.defineProperty(globalThis, 'navigator', { value: { locks: { request } }, configurable: true });
  t.after(() => before ? Object.defineProperty(globalThis, 'navigator', before) : delete globalThis.navigator);
}

test('if two tabs load a model at the same moment, only one downloads it', async (t) => {
  giveLocks(t);
  const state = await site(t);
  const load = async () => {
    const file = await state.read();
    await file.keep();
    file.release?.();
    return [file.text, file.isCached];
  };
  assert.deepEqual(await Promise.all([load(), load()]), [['first', false], ['first', true]]);
  assert.equal(state.downloads, 1);
});

test('when a download fails, the next tab tries it', async (t) => {
  giveLocks(t);
  const state = await site(t);
  state.isUp = false;
  const first = state.read();
  await assert.rejects(first, /could not be fetched/);
  state.isUp = true;
  assert.equal((await state.read()).text, 'first');
});

test('loading works even if storage fails', async (t) => {
  const state = await site(t);
  globalThis.caches = { open: () => Promise.reject(new Error('SecurityError')) };
  const file = await state.read();
  await file.keep();
  assert.equal(file.text, 'first');
});

test('stored models are listed with their sizes, and can be deleted', async (t) => {
  const state = await site(t);
  await (await state.read()).keep();
  assert.deepEqual(await storedModels.list(), [{ url: `${state.url}/`, bytes: 5 }]);
  assert.equal(await storedModels.delete(state.url), true);
  assert.deepEqual(await storedModels.list(), []);
  await (await state.read()).keep();
  await storedModels.clear();
  assert.equal(stored.size, 0);
  globalThis.caches = { open: () => Promise.reject(new Error('SecurityError')) };
  assert.deepEqual([await storedModels.list(), await storedModels.delete(state.url)], [[], false]);
});

test('once the page lends its store no more, what was and is asked of it fails instead of waiting', async () => {
  const never = () => new Promise(() => {});
  const { port, end } = lend({ match: never, put: never, delete: never, keys: never });
  const store = borrowed(port);
  const asked = store.put('https://example.org/model', new Response('bytes'));
  await new Promise((resolve) => setTimeout(resolve));
  end();
  await assert.rejects(asked, { message: /does not lend its store/ });
  await assert.rejects(store.keys(), { message: /does not lend its store/ });
});
