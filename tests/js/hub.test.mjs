// Models of Hugging Face by name and address: a server here stands in for the host.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { exportOnnx, importMarian } from '../../dist/convert/index.js';
import { pipeline } from '../../dist/pipeline/index.js';
import { Classifier, storedModels, Tagger, Translator } from '../../dist/index.js';
import { fixturePath, serve } from './support.mjs';

const folder = fileURLToPath(new URL('../fixtures/marian/tiny', import.meta.url));
const files = readdirSync(folder).filter((name) => name !== 'pytorch_model.bin');
const bertConfig = fileURLToPath(new URL('../fixtures/bert/bert-classify/config.json', import.meta.url));
const bytes = files.reduce((sum, name) => sum + readFileSync(join(folder, name)).length, 0);
const name = 'Helsinki-NLP/opus-mt-xx-yy';
const digest = `sha256-${createHash('sha256').update(readFileSync(join(folder, 'model.safetensors'))).digest('base64')}`;

const cache = mkdtempSync(join(tmpdir(), 'wasmformer-cache-'));
process.env.XDG_CACHE_HOME = cache;
beforeEach(() => storedModels.clear());
after(() => rmSync(cache, { recursive: true, force: true }));

/** The host; `state.downloads` are the files that were fetched. */
async function host(t, missing = []) {
  const state = { downloads: [], version: 1, isUp: true };
  state.hub = await serve(t, async ({ url, method }, response) => {
    if (!state.isUp) return response.destroy();
    await state.isReady;
    const [, model, file] = /^\/(.+)\/resolve\/(?:main|v2)\/([^/]+)$/.exec(url) ?? [];
    if (model !== name || !readdirSync(folder).includes(file) || missing.includes(file)) return response.writeHead(404).end();
    const bytes = readFileSync(join(folder, file));
    response.writeHead(200, { 'content-length': bytes.length, etag: `"${state.version}"` });
    if (method === 'GET') state.downloads.push(file);
    response.end(method === 'GET' ? bytes : undefined);
  });
  return state;
}

async function info(model, options) {
  const translator = await Translator.load(model, options);
  try {
    return { ...translator.info, ...(await translator.translate('c d e')) };
  } finally {
    translator.dispose();
  }
}

test('a name and every address that people copy give the same model, which is downloaded and converted once', async (t) => {
  const state = await host(t);
  const { hub } = state;
  const seen = [];
  const first = await info(name, { hub, onProgress: (...numbers) => seen.push(numbers) });
  assert.equal(first.precision, 'int8');
  assert.deepEqual(state.downloads.sort(), files);
  // One number for all files, known from the beginning.
  assert.ok(seen.every(([loaded, total], i) => total === bytes && loaded >= (seen[i - 1]?.[0] ?? 0)));
  assert.equal(seen.at(-1)[0], bytes);
  const page = `${hub}/${name}`;
  for (const address of [page, `${page}/`, new URL(page), `${page}/tree/main`, `${page}/resolve/main/`, `${page}/resolve/main`, `${page}?library=x`]) {
    assert.equal((await info(address, { hub })).text, first.text, String(address));
  }
  assert.equal(state.downloads.length, files.length, 'the later ones are those of the first');
  assert.deepEqual((await storedModels.list()).map(({ url, bytes }) => [url, bytes]), [[`${page}/resolve/main/?precision=int8`, first.bytes]]);
  state.isUp = false;
  assert.equal((await info(name, { hub })).text, first.text, 'and need no host');
  state.isUp = true;
  state.version = 2;
  await info(name, { hub });
  assert.equal(state.downloads.length, 2 * files.length, 'new weights take the place of the old');
});

test('models are kept by precision and revision, unless caching is off', async (t) => {
  const state = await host(t);
  const { hub } = state;
  assert.equal((await info(name, { hub, precision: 'f32' })).precision, 'f32');
  assert.equal((await info(name, { hub, precision: 'f16' })).precision, 'f16');
  await info(`${hub}/${name}/tree/v2`, { hub });
  assert.equal((await storedModels.list()).length, 3);
  await info(name, { hub, precision: 'f32', cache: false });
  assert.equal(state.downloads.length, 4 * files.length);
});

test('estimate() gives the download size, and 0 if none is needed', async (t) => {
  const state = await host(t);
  const { hub } = state;
  assert.deepEqual(await Translator.estimate(name, { hub }), { download: bytes, isStored: false });
  assert.deepEqual(state.downloads, []);
  await info(name, { hub });
  assert.deepEqual(await Translator.estimate(name, { hub }), { download: 0, isStored: true });
  assert.deepEqual(await Translator.estimate(name, { hub, cache: false }), { download: bytes, isStored: false });
  assert.deepEqual(await Translator.estimate(fixturePath), { download: 0, isStored: true });
  const one = await serve(t, (_, response) => response.writeHead(200, { 'content-length': 1234 }).end());
  assert.deepEqual(await Translator.estimate(one), { download: 1234, isStored: false });
  await assert.rejects(Translator.estimate('Helsinki-NLP/none', { hub }), /Helsinki-NLP\/none\/resolve\/main\/config\.json answered 404$/);
});

test('integrity is checked on the weights, also for stored models', async (t) => {
  const { hub } = await host(t);
  await info(name, { hub });
  await assert.rejects(info(name, { hub, integrity: digest.replace('-', '-A') }), /the digest of model\.safetensors is sha256-/);
  await info(name, { hub, integrity: digest });
  assert.equal((await Translator.estimate(name, { hub, integrity: digest })).isStored, true);
});

test('conversions and pipelines take hub addresses and names too', async (t) => {
  const { hub } = await host(t);
  const mine = await importMarian(`${hub}/${name}/resolve/main/`);
  const translate = await pipeline('translation', name, { hub, dtype: 'fp32' });
  assert.equal((await translate('c d e'))[0].translation_text, (await info(mine)).text);
  await translate.dispose();
  // The same model under the name of its ONNX files.
  const { mock } = t.mock.method(console, 'warn', () => {});
  const other = await pipeline('translation', name.replace('Helsinki-NLP', 'Xenova'), { hub });
  assert.match(mock.calls[0].arguments[0], /Xenova\/opus-mt-xx-yy has ONNX files, .* Helsinki-NLP\/opus-mt-xx-yy, /);
  assert.equal(other.translator.info.precision, 'int8');
  await other.dispose();
});

test('a local file or folder takes precedence over a hub name, and a folder is converted', async (t) => {
  const { hub, downloads } = await host(t);
  const back = process.cwd();
  const here = mkdtempSync(join(tmpdir(), 'wasmformer-here-'));
  t.after(() => (process.chdir(back), rmSync(here, { recursive: true })));
  process.chdir(here);
  cpSync(folder, name, { recursive: true });
  cpSync(fixturePath, 'Helsinki-NLP/file');
  assert.ok('encoder_model.onnx' in await exportOnnx('Helsinki-NLP/file'));
  assert.ok((await importMarian(name)).size > 0);
  assert.equal((await info(name, { hub, precision: 'f16', integrity: digest })).precision, 'f16');
  await assert.rejects(info(name, { hub, integrity: digest.replace('-', '-A') }), /the digest of model\.safetensors is sha256-/);
  assert.deepEqual(await Translator.estimate(name, { hub }), { download: 0, isStored: true });
  await assert.rejects(exportOnnx(name), { message: `[load] ${name} is a folder; importMarian() or importBert() converts it to a model file` });
  assert.deepEqual(downloads, []);
});

test('a model that is loaded for another use is kept, and read from there', async (t) => {
  const state = await host(t);
  await assert.rejects(Tagger.load(name, { hubURL: state.hub }), /does not tag; it translates$/);
  assert.equal((await storedModels.list()).length, 1);
  await assert.rejects(Classifier.load(name, { hubURL: state.hub }), /does not classify; it translates$/);
  assert.equal((await info(name, { hubURL: state.hub })).precision, 'int8');
  assert.equal(state.downloads.length, files.length);
});

test('a damaged entry of the cache does not hide the others; clear() leaves nothing behind', async (t) => {
  const { hub } = await host(t);
  await info(name, { hub });
  const there = join(cache, 'wasmformer-models');
  const digest = 'ab'.repeat(32);
  writeFileSync(join(there, `${digest}.json`), '{"url":');
  writeFileSync(join(there, `${digest}.1-2`), 'half');
  assert.equal((await storedModels.list()).length, 1);
  await storedModels.clear();
  assert.deepEqual(readdirSync(there), []);
  // What cannot be put in its place is not left beside it.
  mkdirSync(join(there, createHash('sha256').update(`${hub}/${name}/resolve/main/?precision=int8`).digest('hex')));
  await info(name, { hub });
  assert.equal(readdirSync(there).length, 1);
  rmSync(there, { recursive: true });
});

test('errors name what the host does not have', async (t) => {
  const state = await host(t, ['model.safetensors', 'pytorch_model.bin']);
  const { hub } = state;
  await assert.rejects(info(name, { hub }), /has neither model\.safetensors nor pytorch_model\.bin; other weights, such as ONNX, cannot be read/);
  await assert.rejects(info('Helsinki-NLP/none', { hub }), /Helsinki-NLP\/none\/resolve\/main\/config\.json answered 404/);
  await assert.rejects(info(name, { hubURL: 'huggingface.co' }), /hubURL must be a URL, not 'huggingface\.co'/);
  for (const hub of ['https:', 'https://[']) await assert.rejects(info(name, { hub }), { message: `[load] hubURL must be a URL, not '${hub}'` });
  await assert.rejects(info(name, { hubURL: `${hub}/artifactory/hf` }), /\/artifactory\/hf\/Helsinki-NLP\/opus-mt-xx-yy\/resolve\/main\/config\.json answered 404/);
  state.isUp = false;
  await assert.rejects(info(name, { hub }), /could not be fetched/);
});

test('a model of another kind, or one that lacks a file, is refused before its weights are downloaded', async (t) => {
  const configs = { t5: '{ "model_type": "t5" }', roberta: '{ "model_type": "roberta" }', bert: readFileSync(bertConfig) };
  const asked = [];
  const hubURL = await serve(t, ({ url, method }, response) => {
    const [, kind, file] = /^\/x\/(\w+)\/resolve\/main\/(.*)$/.exec(url) ?? [];
    const isThere = ['config.json', 'model.safetensors', 'tokenizer.json', 'vocab.json'].includes(file);
    if (method === 'GET') asked.push(file);
    response.writeHead(isThere ? 200 : 404).end(method === 'GET' && isThere ? configs[kind] : undefined);
  });
  const reasons = {
    t5: "[import] config.json has model_type 't5'; only 'marian', 'bert' and 'distilbert' can be read",
    roberta: "[import] config.json has model_type 'roberta'; only 'marian', 'bert' and 'distilbert' can be read",
    bert: '[import] the folder has no vocab.txt',
  };
  for (const [kind, message] of Object.entries(reasons)) {
    for (const one of [Translator, Classifier, Tagger]) await assert.rejects(one.load(`x/${kind}`, { hubURL, cache: false }), { message });
    await assert.rejects(importMarian(`${hubURL}/x/${kind}/resolve/main/`), { message });
  }
  assert.ok(!asked.includes('model.safetensors'), `${asked}`);
});

test('a load that is aborted leaves the stored model as it is', async (t) => {
  const state = await host(t);
  const { hub } = state;
  const first = await Translator.load(name, { hub });
  t.after(() => first.dispose());
  let answer;
  state.isReady = new Promise((resolve) => (answer = resolve));
  const stop = new AbortController();
  const load = Translator.load(name, { hub, shareWith: first, signal: stop.signal });
  setTimeout(() => stop.abort(), 100);
  await assert.rejects(load, { name: 'AbortError' });
  await first.translate('c d e'); // the worker knows of the abort now
  answer();
  await info(name, { hub });
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(state.downloads.length, files.length);
  assert.equal((await storedModels.list()).length, 1);
});

test('listing models does not read them', async (t) => {
  const { hub } = await host(t);
  await info(name, { hub });
  const there = join(cache, 'wasmformer-models');
  truncateSync(join(there, readdirSync(there).find((file) => !file.endsWith('.json'))), 3 * 2 ** 30); // more than can be read at once
  assert.equal((await storedModels.list()).length, 1);
});
