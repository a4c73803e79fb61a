// Models that a server gives only to some, stores of the caller's own, and a limit for what is stored.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { openFolder } from '../../dist/shared/folder-cache.js';
import { fixtureBytes, sentences, serve } from './support.mjs';

const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const bytes = fixtureBytes();

/** A server that gives the model to those with the right header, and counts what it sends. */
async function site(t) {
  const state = { downloads: 0, asked: [] };
  state.url = await serve(t, ({ method, url, headers }, response) => {
    state.asked.push([method, headers.authorization]);
    if (headers.authorization !== 'Bearer mine') return response.writeHead(401).end();
    if (method === 'GET') state.downloads++;
    response.writeHead(200, { 'content-length': bytes.length, etag: `"${url}"` });
    return response.end(method === 'GET' ? bytes : undefined);
  });
  return state;
}

/** A store in memory. */
function memory() {
  const kept = new Map();
  return {
    kept,
    match: async (key) => kept.get(key)?.clone(),
    put: async (key, response) => void kept.set(key, response),
    delete: async (key) => kept.delete(key),
    keys: async () => [...kept.keys()].map((url) => ({ url })),
  };
}

const mine = { requestInit: { headers: { Authorization: 'Bearer mine' } } };
const models = (store) => [...store.kept.keys()].filter((key) => key.endsWith('.safetensors')).map((key) => key.slice(-13));

async function loaded(url, options) {
  const translator = await Translator.load(url, { threads: 1, ...options });
  const { text } = await translator.translate(sentences[0]);
  translator.dispose();
  return text;
}

test('requestInit is sent with each request for a model', async (t) => {
  const { url, asked } = await site(t);
  const model = `${url}/a.safetensors`;
  await assert.rejects(loaded(model), { code: 'http-status', details: { url: model, status: 401, answer: '401 Unauthorized' } });
  assert.notEqual(await loaded(model, mine), '');
  assert.equal((await Translator.estimate(model, mine)).download, bytes.length);
  assert.deepEqual(asked.slice(1), [['GET', 'Bearer mine'], ['HEAD', 'Bearer mine']]);
});

test('it goes to the host of a list, and not to other hosts that the list names', async (t) => {
  const seen = [];
  const other = await serve(t, ({ headers }, response) => {
    seen.push(['other', headers.authorization]);
    response.writeHead(404).end();
  });
  const files = { model: { path: 'model.bin' }, vocab: { path: 'vocab.spm' } };
  const url = await serve(t, ({ url, headers }, response) => {
    seen.push([url, headers.authorization]);
    if (url !== '/models.json') return response.writeHead(404).end();
    return response.end(JSON.stringify({ baseUrl: other, models: { 'de-en': [{ files }] } }));
  });
  const source = { list: `${url}/models.json`, from: 'de', to: 'en' };
  await assert.rejects(Translator.load(source, { ...mine, cache: false }));
  assert.deepEqual(seen[0], ['/models.json', 'Bearer mine']);
  assert.ok(seen.some(([place]) => place === 'other'));
  for (const [place, header] of seen) if (place === 'other') assert.equal(header, undefined);
});

test('requestInit and stores are checked', async () => {
  const refused = (options) => Translator.load('https://localhost:1/a', options).then(() => 'nothing', ({ details }) => details.option);
  assert.equal(await refused({ requestInit: { method: 'POST' } }), 'requestInit.method');
  assert.equal(await refused({ requestInit: { headers: { a: 1 } } }), 'requestInit.headers');
  assert.equal(await refused({ cache: { match() {} } }), 'cache');
  assert.equal(await refused({ cacheLimit: -1 }), 'cacheLimit');
});

test('a store of the caller keeps the model and gives it back', async (t) => {
  const state = await site(t);
  const store = memory();
  const model = `${state.url}/a.safetensors`;
  const first = await loaded(model, { ...mine, cache: store });
  assert.deepEqual([models(store), state.downloads], [['a.safetensors'], 1]);
  assert.equal((await Translator.estimate(model, { ...mine, cache: store })).isStored, true);
  assert.equal(await loaded(model, { ...mine, cache: store }), first);
  assert.equal(state.downloads, 1);
});

test('a store that fails does not stop a model from loading', async (t) => {
  const { url } = await site(t);
  const fails = async () => {
    throw new Error('full');
  };
  assert.notEqual(await loaded(`${url}/a.safetensors`, { ...mine, cache: { match: async () => undefined, put: fails, delete: fails, keys: fails } }), '');
});

test('with cacheLimit, the models that were used longest ago make room', async (t) => {
  const { url } = await site(t);
  const store = memory();
  const options = { ...mine, cache: store, cacheLimit: 2.5 * bytes.length };
  for (const name of ['a', 'b', 'a', 'c']) await loaded(`${url}/${name}.safetensors`, options);
  assert.deepEqual(models(store).sort(), ['a.safetensors', 'c.safetensors']);
  await loaded(`${url}/d.safetensors`, { ...options, cacheLimit: bytes.length - 1 });
  assert.deepEqual(models(store).sort(), ['a.safetensors', 'c.safetensors']);
});

test('a stored file in which bytes were lost is downloaded again', async (t) => {
  const state = await site(t);
  const store = memory();
  const model = `${state.url}/a.safetensors`;
  const first = await loaded(model, { ...mine, cache: store });
  const stored = store.kept.get(model);
  const half = new Uint8Array(await stored.clone().arrayBuffer()).fill(0, bytes.length / 2);
  store.kept.set(model, new Response(half, { headers: stored.headers }));
  assert.equal(await loaded(model, { ...mine, cache: store }), first);
  assert.equal(state.downloads, 2);
});

test('a relative XDG_CACHE_HOME is ignored, as its specification says', async (t) => {
  const before = process.env.XDG_CACHE_HOME;
  const home = process.env.HOME;
  t.after(() => Object.assign(process.env, { HOME: home }, before === undefined ? {} : { XDG_CACHE_HOME: before }));
  process.env.HOME = folder;
  process.env.XDG_CACHE_HOME = 'relative';
  assert.equal(homedir(), folder);
  await (await openFolder('models')).put('https://example.org/a', new Response('a'));
  if (before === undefined) delete process.env.XDG_CACHE_HOME;
  assert.equal(readdirSync(join(folder, '.cache/models')).length, 2);
});

test('bytes of another realm are bytes', async () => {
  const { runInNewContext } = await import('node:vm');
  const foreign = runInNewContext('new Uint8Array(length)', { length: bytes.length });
  foreign.set(bytes);
  assert.equal(foreign instanceof Uint8Array, false);
  assert.notEqual(await loaded(foreign), '');
});

test('many calls with one signal add one listener, so Node warns of no leak', async () => {
  const path = join(folder, 'model.safetensors');
  writeFileSync(path, readFileSync(new URL('../fixtures/tiny-de-en.safetensors', import.meta.url)));
  const translator = await Translator.load(path);
  const { signal } = new AbortController();
  const added = [];
  const { addEventListener } = signal;
  signal.addEventListener = (...args) => {
    added.push(args[0]);
    return addEventListener.apply(signal, args);
  };
  await Promise.all(Array.from({ length: 30 }, () => translator.translate(sentences[0], { signal })));
  assert.deepEqual(added, ['abort']);
  const stop = new AbortController();
  const calls = Array.from({ length: 12 }, () => translator.translate(sentences, { signal: stop.signal }).catch((error) => error));
  stop.abort(new Error('mine'));
  for (const error of await Promise.all(calls)) assert.equal(error.message, 'mine');
  translator.dispose();
});
