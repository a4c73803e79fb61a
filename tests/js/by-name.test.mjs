// Models by name: where they are looked for, what they must be, and what errors say. tests/npm/models.test.mjs installs the
// packed packages, and loads them in each runtime and in Chromium.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { importMarian } from '../../dist/convert/index.js';
import { bundledModels } from '../../dist/generated/bundled-models.js';
import { Translator } from '../../dist/index.js';
import { pipeline } from '../../dist/pipeline/index.js';
import { registerPair, Translator as StandardTranslator } from '../../dist/standard/index.js';
import { fixtureBytes, fixturePath, sentences, serve } from './support.mjs';

const root = join(import.meta.dirname, '../..');
const models = join(root, 'web/public/models');
const command = 'node bindings/tools/build.mjs model-packages';
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-names-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const integrityOf = (bytes) => `sha256-${createHash('sha256').update(bytes).digest('base64')}`;

/** A server with the files of `folders`, by their addresses; `asked` are the requests. */
async function serveFiles(t, files) {
  const asked = [];
  const at = await serve(t, (request, response) => {
    asked.push(request);
    const bytes = files[request.url];
    if (!bytes) return response.writeHead(404).end();
    response.writeHead(200, { 'content-length': bytes.length }).end(request.method === 'HEAD' ? undefined : bytes);
  });
  return { at, asked };
}

async function translation(model, options) {
  const translator = await Translator.load(model, { threads: 1, ...options });
  try {
    return (await translator.translate(sentences[0])).text;
  } finally {
    translator.dispose();
  }
}

const deEn = readFileSync(join(models, 'de-en.safetensors'));

test('the package knows the digests of the bundled models', () => {
  assert.deepEqual(Object.keys(bundledModels), ['de-en', 'en-de', 'en-zh', 'fr-en', 'zh-en']);
  for (const [name, digest] of Object.entries(bundledModels)) assert.equal(digest, integrityOf(readFileSync(join(models, `${name}.safetensors`))), name);
});

test('the package of a model is found from the folder of the program, from the current folder, and beside the package', () => {
  const app = join(folder, 'app');
  const other = join(folder, 'other');
  const beside = join(folder, 'beside/node_modules');
  for (const place of [app, other, beside]) mkdirSync(place, { recursive: true });
  const addModel = (modules) => {
    mkdirSync(join(modules, 'wasmformer-de-en'), { recursive: true });
    writeFileSync(join(modules, 'wasmformer-de-en/package.json'), '{ "name": "wasmformer-de-en", "version": "0.1.0" }');
    cpSync(fixturePath, join(modules, 'wasmformer-de-en/de-en.safetensors'));
  };
  const script = (index) => `import { Translator } from '${pathToFileURL(index)}';
    console.log(await Translator.estimate('de-en').then(({ isStored }) => isStored, ({ code }) => code));`;
  const answer = (cwd, ...args) => execFileSync(process.execPath, args, { cwd, encoding: 'utf8' }).trim();
  const index = join(root, 'dist/index.js');
  writeFileSync(join(app, 'main.mjs'), script(index));
  const evaluated = ['--input-type=module', '--eval', script(index)];
  assert.equal(answer(other, join(app, 'main.mjs')), 'not-installed');
  assert.equal(answer(app, ...evaluated), 'not-installed');
  addModel(join(app, 'node_modules'));
  assert.equal(answer(other, join(app, 'main.mjs')), 'true', 'from the program');
  assert.equal(answer(app, ...evaluated), 'true', 'from the current folder');
  assert.equal(answer(other, ...evaluated), 'not-installed');

  mkdirSync(join(beside, 'wasmformer'));
  cpSync(join(root, 'dist'), join(beside, 'wasmformer/dist'), { recursive: true, filter: (from) => !from.includes('/wasm/') });
  writeFileSync(join(beside, 'wasmformer/package.json'), '{ "type": "module" }');
  addModel(beside);
  writeFileSync(join(other, 'main.mjs'), script(join(beside, 'wasmformer/dist/index.js')));
  assert.equal(answer(other, 'main.mjs'), 'true', 'beside the package');
});

test('a model that is not installed: the error says where it was looked for, and how it is made or which there are', async () => {
  await assert.rejects(Translator.load('de-en'), (error) => {
    assert.equal(error.code, 'not-installed');
    assert.equal(error.details.name, 'wasmformer-de-en');
    assert.ok(error.details.places.split(', ').includes(`${process.cwd()}/`), error.details.places);
    assert.ok(error.details.places.split(', ').includes(join(root, 'dist/worker/')), error.details.places);
    assert.ok(error.message.startsWith('[load] the package wasmformer-de-en is not installed; ') && error.message.includes(error.details.places));
    assert.ok(error.message.includes(command), error.message);
    return true;
  });
  await assert.rejects(Translator.estimate('de-en'), { code: 'not-installed' });
  await assert.rejects(Translator.load('xx-yy'), ({ code, message }) => code === 'not-installed' && /de-en, en-de, en-zh, fr-en, zh-en$/.test(message));
});

test('only two language codes with a hyphen are a name', async () => {
  for (const path of ['./de-en', 'de-en.safetensors', 'de-EN', 'deu-', 'models/de-en.bin']) await assert.rejects(Translator.load(path), { code: 'read-failed' }, path);
});

test('modelsURL is the folder of the files, on a server or a disk, of which each must be that of this version', async (t) => {
  const changed = Uint8Array.from(deEn);
  changed[changed.length >> 1] ^= 1;
  const { at, asked } = await serveFiles(t, { '/models/de-en.safetensors': deEn, '/changed/de-en.safetensors': changed, '/other/de-en.safetensors': fixtureBytes() });
  const expected = await translation(deEn);
  const requestInit = { headers: { 'x-key': '1' } };
  assert.equal(await translation('de-en', { modelsURL: `${at}/models`, requestInit }), expected);
  assert.equal(asked[0].headers['x-key'], '1');
  assert.equal(await translation('de-en', { modelsURL: new URL(`${at}/models/`) }), expected);
  assert.equal(await translation('de-en', { modelsURL: pathToFileURL(models) }), expected);
  assert.deepEqual(await Translator.estimate('de-en', { modelsURL: `${at}/models` }), { download: deEn.length, isStored: false });
  await assert.rejects(translation('de-en', { modelsURL: `${at}/changed` }), ({ code, message }) => code === 'wrong-digest' && message.includes(bundledModels['de-en']));
  await assert.rejects(translation('de-en', { modelsURL: `${at}/other` }), { code: 'wrong-digest' });
  await translation('de-en', { modelsURL: `${at}/other`, integrity: integrityOf(fixtureBytes()) });
  const onDisk = join(folder, 'on-disk');
  mkdirSync(onDisk);
  writeFileSync(join(onDisk, 'de-en.safetensors'), fixtureBytes());
  await assert.rejects(translation('de-en', { modelsURL: pathToFileURL(onDisk) }), { code: 'wrong-digest' });
});

test('in a folder of your own there may be other models, whose digest is not known', async (t) => {
  const { at } = await serveFiles(t, { '/xx-yy.safetensors': fixtureBytes() });
  assert.equal(await translation('xx-yy', { modelsURL: at }), await translation(fixturePath));
  await assert.rejects(translation('yy-xx', { modelsURL: at }), { code: 'not-found', message: `[load] ${at}/yy-xx.safetensors answered 404 Not Found` });
  await assert.rejects(translation('xx-yy', { modelsURL: 'models' }), { message: "[load] modelsURL must be a URL, not 'models'" });
});

test('models by name are kept in a store as those of addresses are', async (t) => {
  const { at, asked } = await serveFiles(t, { '/de-en.safetensors': deEn });
  const stored = new Map();
  const cache = {
    match: async (key) => stored.get(key)?.clone(), put: async (key, response) => void stored.set(key, response),
    delete: async (key) => stored.delete(key), keys: async () => [...stored.keys()].map((url) => ({ url })),
  };
  const options = { modelsURL: at, cache };
  const first = await translation('de-en', options);
  assert.deepEqual([...stored.keys()], [`${at}/de-en.safetensors`]);
  assert.equal((await Translator.estimate('de-en', options)).isStored, true);
  asked.length = 0;
  assert.equal(await translation('de-en', options), first);
  assert.deepEqual(asked.map(({ method }) => method), ['HEAD']);
});

test('pipelines and the classes of the standard take models by name', async (t) => {
  const { at } = await serveFiles(t, { '/de-en.safetensors': deEn });
  const expected = await translation(deEn);
  const translate = await pipeline('translation', 'de-en', { modelsURL: at });
  assert.equal((await translate(sentences[0], { num_beams: 1 }))[0].translation_text, expected);
  await translate.dispose();
  const languages = { sourceLanguage: 'de', targetLanguage: 'en' };
  t.after(registerPair('de', 'en', undefined, { modelsURL: at }));
  const translator = await StandardTranslator.create(languages);
  assert.equal(await translator.translate(sentences[0]), expected);
  translator.destroy();
  registerPair('de', 'en');
  await assert.rejects(StandardTranslator.create(languages), ({ name, cause }) => name === 'OperationError' && cause.code === 'not-installed');
  registerPair('de', 'en', 'de-en', { modelsURL: `${at}/none` });
  await assert.rejects(StandardTranslator.create(languages), { name: 'NetworkError' });
  assert.throws(() => registerPair('zh-Hant', 'en'), TypeError);
});

test('a folder to import may have such a name', async (t) => {
  const back = process.cwd();
  const here = join(folder, 'here');
  mkdirSync(here);
  t.after(() => process.chdir(back));
  process.chdir(here);
  symlinkSync(join(root, 'tests/fixtures/marian/tiny'), 'de-en');
  assert.ok((await importMarian('de-en')).size > 0);
});
