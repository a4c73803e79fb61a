// Translator and LanguageDetector of the standard, in Node; tests/browsers/checks.mjs has the same in browsers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { Trainer, Translator as Model } from '../../dist/index.js';
import * as standard from '../../dist/standard/index.js';
import { check, names, words } from '../standard/behaviors.mjs';
import { fixturePath, sentences, serve } from './support.mjs';

const { LanguageDetector, registerDetector, registerList, registerPair, Translator } = standard;
const model = fileURLToPath(new URL('../../web/public/models/de-en.safetensors', import.meta.url));
const languages = { sourceLanguage: 'de', targetLanguage: 'en' };

// Its worker has the models of all checks, so that not each of them starts one.
let host;
before(async () => (host = await Model.load(fixturePath)));
after(() => host.dispose());

for (const name of names) test(`standard: ${name}`, () => check(name, { standard, model, options: { shareWith: host }, words }));

/** A file at an address that answers in parts, with `pause` before the last one. */
async function serveModel(t, { pause = Promise.resolve(), status = 200 } = {}) {
  const bytes = readFileSync(fixturePath);
  return serve(t, async ({ method }, response) => {
    if (status !== 200) return response.writeHead(status).end();
    response.writeHead(200, { 'content-length': bytes.length });
    if (method === 'HEAD') return response.end();
    const half = bytes.length >> 1;
    response.write(bytes.subarray(0, half));
    await pause;
    response.end(bytes.subarray(half));
  });
}

test('a pair at an address is downloadable, then downloading with its progress, then available as long as it is used', async (t) => {
  let goOn;
  const address = await serveModel(t, { pause: new Promise((resolve) => (goOn = resolve)) });
  t.after(registerPair('de', 'en', address, { cache: false }));
  assert.equal(await Translator.availability(languages), 'downloadable');
  const numbers = [];
  let isHalf;
  const half = new Promise((resolve) => (isHalf = resolve));
  const monitor = (target) => target.addEventListener('downloadprogress', ({ loaded }) => {
    numbers.push(loaded);
    if (loaded > 0.4) isHalf();
  });
  const both = [Translator.create({ ...languages, monitor }), Translator.create(languages)];
  await half;
  assert.equal(await Translator.availability(languages), 'downloading');
  goOn();
  const [one, other] = await Promise.all(both);
  assert.ok(numbers.some((number) => number > 0.4 && number < 0.6), `${numbers}`);
  assert.equal(await Translator.availability(languages), 'available');
  one.destroy();
  assert.equal(await Translator.availability(languages), 'available');
  other.destroy();
  assert.equal(await Translator.availability(languages), 'downloadable');
});

test('of two that wait for one download, one may give up', async (t) => {
  let goOn;
  const address = await serveModel(t, { pause: new Promise((resolve) => (goOn = resolve)) });
  t.after(registerPair('de', 'en', address, { cache: false }));
  const stop = new AbortController();
  const both = [Translator.create({ ...languages, signal: stop.signal }), Translator.create(languages)];
  stop.abort();
  await assert.rejects(both[0], { name: 'AbortError' });
  goOn();
  const translator = await both[1];
  assert.notEqual(await translator.translate(sentences[0]), '');
  translator.destroy();
});

test('a download that fails is a NetworkError, a file that is no model an OperationError, and the next try may succeed', async (t) => {
  const failing = registerPair('de', 'en', await serveModel(t, { status: 503 }), { cache: false });
  assert.equal(await Translator.availability(languages), 'downloadable');
  const error = await Translator.create(languages).catch((error) => error);
  assert.ok(error instanceof DOMException);
  assert.deepEqual([error.name, error.cause.code], ['NetworkError', 'http-status']);
  failing();
  const wrong = registerPair('de', 'en', new Uint8Array(100));
  await assert.rejects(Translator.create(languages), (error) => error instanceof DOMException && error.name === 'OperationError');
  wrong();
  let tries = 0;
  t.after(registerPair('de', 'en', async () => {
    if (tries++ === 0) throw new Error('not yet');
    return { translateText: async (text) => ({ text: `<${text}>` }) };
  }));
  await assert.rejects(Translator.create(languages), { message: 'not yet' });
  const translator = await Translator.create(languages);
  assert.equal(await translator.translate('ja'), '<ja>');
  const parts = [];
  for await (const part of translator.translateStreaming('ja. nein.')) parts.push(part);
  assert.deepEqual(parts, ['<ja. nein.>']);
  translator.destroy();
});

test('sessions that share a signal have one listener on it, and none once they are destroyed', async (t) => {
  t.after(registerPair('de', 'en', async () => ({ translateText: async (text) => ({ text }) })));
  const { signal } = new AbortController();
  const sessions = [];
  for (let i = 0; i < 12; i++) sessions.push(await Translator.create({ ...languages, signal }));
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  const calls = sessions.map((session) => session.translate('Hund', { signal }));
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  await Promise.all(calls);
  for (const session of sessions) session.destroy();
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('an error of the package is an UnknownError, and those of a function of the user stay as they are', async (t) => {
  const loaded = await Model.load(fixturePath, { shareWith: host });
  t.after(registerPair('de', 'en', () => loaded));
  const translator = await Translator.create(languages);
  loaded.dispose();
  for (const promise of [translator.translate('ja'), translator.translateStreaming('ja').pipeTo(new WritableStream())]) {
    const error = await promise.catch((error) => error);
    assert.ok(error instanceof DOMException);
    assert.deepEqual([error.name, error.cause.code], ['UnknownError', 'disposed']);
  }
  translator.destroy();
  const own = new Error('of the function');
  t.after(registerPair('de', 'fr', () => ({ translateText: () => Promise.reject(own) })));
  const failing = await Translator.create({ sourceLanguage: 'de', targetLanguage: 'fr' });
  await assert.rejects(failing.translate('ja'), own);
  await assert.rejects(failing.translateStreaming('ja').pipeTo(new WritableStream()), own);
  failing.destroy();
});

test('of several pairs the one that fits best is used, and a later one replaces an earlier one', async (t) => {
  const saying = (name) => () => ({ translateText: async () => ({ text: name }) });
  for (const [target, name] of [['zh-Hans', 'simplified'], ['zh-Hant', 'old'], ['zh-Hant', 'traditional'], ['pt', 'Brazil'], ['pt-PT', 'Portugal']]) {
    t.after(registerPair('en', target, saying(name)));
  }
  const said = async (sourceLanguage, targetLanguage) => {
    const translator = await Translator.create({ sourceLanguage, targetLanguage });
    const text = await translator.translate('yes');
    translator.destroy();
    return [translator.targetLanguage, text];
  };
  assert.deepEqual(await said('en', 'zh'), ['zh-Hans', 'simplified']);
  assert.deepEqual(await said('en-GB', 'zh-TW'), ['zh-Hant', 'traditional']);
  assert.deepEqual(await said('en', 'pt-BR'), ['pt', 'Brazil']);
  assert.deepEqual(await said('en-US', 'pt-PT'), ['pt-PT', 'Portugal']);
});

test('a text of the same language needs no model, but one in another script does', async () => {
  const availability = (sourceLanguage, targetLanguage) => Translator.availability({ sourceLanguage, targetLanguage });
  assert.equal(await availability('en-GB', 'en-US'), 'available');
  assert.equal(await availability('zh-Hans', 'zh-Hant'), 'unavailable');
});

test("a list of Mozilla's gives its pairs", async (t) => {
  const file = { path: 'file', uncompressedSize: 1, uncompressedHash: '0'.repeat(64) };
  const entry = { architecture: 'tiny', releaseStatus: 'Release', files: { model: file, vocab: file } };
  const baseUrl = await serveModel(t, { status: 404 });
  const list = new Blob([JSON.stringify({ baseUrl, models: { 'de-en': [entry, entry], 'en-fr': [entry] } })]);
  const found = await registerList(list);
  const wanted = found.map(({ sourceLanguage, targetLanguage }) => ({ sourceLanguage, targetLanguage }));
  assert.deepEqual(wanted, [{ sourceLanguage: 'de', targetLanguage: 'en' }, { sourceLanguage: 'en', targetLanguage: 'fr' }]);
  for (const pair of wanted) {
    assert.equal(await Translator.availability(pair), 'downloadable');
    await assert.rejects(Translator.create(pair), { name: 'NetworkError' });
  }
  for (const { unregister } of found) unregister();
  assert.equal(await Translator.availability(wanted[0]), 'unavailable');
});

test('a classifier of languages is a detector', async (t) => {
  const rows = Object.entries(words).flatMap(([language, list]) =>
    Array.from({ length: 60 }, (_, i) => [language, [0, 1, 2, 3].map((j) => list[(i * 3 + j * 5 + ((i * j) % 3)) % list.length]).join(' ')]));
  const config = { d_model: 16, ffn_dim: 32, num_heads: 2, encoder_layers: 1 };
  const trainer = await Trainer.create({ labeled: rows, validLabeled: rows.slice(0, 30), tokenizer: { type: 'word' }, config, threads: 1 });
  for await (const event of trainer.run({ steps: 60 })) void event;
  const bytes = new Uint8Array(await (await trainer.save({ optimizer: false })).arrayBuffer());
  trainer.dispose();
  t.after(registerDetector(bytes));
  assert.equal(await LanguageDetector.availability(), 'available');
  const detector = await LanguageDetector.create({ expectedInputLanguages: ['en-GB', 'de'] });
  assert.deepEqual(detector.expectedInputLanguages, ['en', 'de']);
  const results = await detector.detect('this is the book that you have');
  assert.equal(results[0].detectedLanguage, 'en');
  assert.equal(results.at(-1).detectedLanguage, 'und');
  detector.destroy();
  await assert.rejects(LanguageDetector.create({ expectedInputLanguages: ['sw'] }), { name: 'NotSupportedError' });
});

test("with native set, the browser's own class does what it can", async (t) => {
  const created = [];
  const own = (name) => class {
    static availability = async (options) => (options?.targetLanguage === 'fr' || name === 'LanguageDetector' ? 'available' : 'unavailable');
    static create = async (options) => {
      created.push([name, options]);
      return { name };
    };
  };
  Object.assign(globalThis, { Translator: own('Translator'), LanguageDetector: own('LanguageDetector') });
  t.after(() => {
    standard.configure({ native: false });
    delete globalThis.Translator;
    delete globalThis.LanguageDetector;
  });
  t.after(registerPair('de', 'en', model));
  const french = { sourceLanguage: 'de', targetLanguage: 'fr' };
  assert.equal(await Translator.availability(french), 'unavailable');
  standard.configure({ native: true });
  assert.equal(await Translator.availability(french), 'available');
  assert.deepEqual([await Translator.create(french), await LanguageDetector.create()], [{ name: 'Translator' }, { name: 'LanguageDetector' }]);
  assert.deepEqual(created, [['Translator', french], ['LanguageDetector', undefined]]);
  const translator = await Translator.create(languages);
  assert.ok(translator instanceof Translator);
  translator.destroy();
  assert.deepEqual(standard.install(), [], 'what is there stays');
  assert.throws(() => standard.configure({ nativ: true }), { code: 'unknown-option' });
});

test('importing it changes no global, and install defines those that are missing', () => {
  const address = new URL('../../dist/standard/index.js', import.meta.url);
  const script = `
    const before = Reflect.ownKeys(globalThis).length;
    const { install, Translator } = await import('${address}');
    const after = Reflect.ownKeys(globalThis).length;
    globalThis.LanguageDetector = 'there';
    const installed = install();
    console.log(JSON.stringify([after - before, installed, globalThis.Translator === Translator, globalThis.LanguageDetector, install()]));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  assert.deepEqual(JSON.parse(printed), [0, ['Translator'], true, 'there', []]);
});

test('a model is freed when its translator is forgotten', () => {
  const script = `
    import { setTimeout } from 'node:timers/promises';
    import { registerPair, Translator } from '${new URL('../../dist/standard/index.js', import.meta.url)}';
    let freed = 0;
    registerPair('de', 'en', () => ({ translateText: async (text) => ({ text }), dispose: () => freed++ }));
    await Translator.create(${JSON.stringify(languages)}).then((translator) => translator.translate('ja'));
    for (let i = 0; i < 50 && freed === 0; i++) {
      gc();
      await setTimeout(20);
    }
    console.log(freed);`;
  assert.equal(execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], { encoding: 'utf8' }).trim(), '1');
});

test('its own code is at most 12 KB, minified, after brotli', async () => {
  const input = fileURLToPath(new URL('../../dist/standard/index.js', import.meta.url));
  const bundle = await rolldown({ input, external: /^\.\.\/(api|shared|convert)\//, logLevel: 'silent' });
  const { output } = await bundle.generate({ format: 'es', minify: true });
  const size = output.reduce((sum, { code }) => sum + brotliCompressSync(code).length, 0);
  assert.ok(output[0].code.length > 2000 && size <= 12_000, `${size} bytes`);
});
