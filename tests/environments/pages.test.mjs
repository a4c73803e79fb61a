// Pages that only a browser can show: a shared worker, Trusted Types, a frame in a sandbox, the background of an extension.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { chromium as playwright } from 'playwright-core';
import { chromium } from '../../bindings/tools/setup.mjs';
import { build } from 'esbuild';
import { serve } from '../../web/serve.mjs';
import { addModel, expectedText, inBrowser, project, recipe, sentence, twoSentences, untilTranslated } from './support.mjs';

const dist = join(import.meta.dirname, '../../dist');
const page = (body) => `<!doctype html><link rel="icon" href="data:,"><meta charset="utf-8">${body}`;
const loading = (options = '{}') => `<script type="module">
  import { Translator } from './wasmformer/index.js';
  const work = async () => (await (await Translator.load('model.safetensors', ${options})).translate(${JSON.stringify(sentence)})).text;
  globalThis.result = await work().catch(String);
</script>`;

/** A folder that the test deletes. */
function folderOf(t) {
  const place = mkdtempSync(join(tmpdir(), 'wasmformer-pages-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

/** A folder with a copy of the package, the model and these files. */
function site(t, files, { hasModel = true } = {}) {
  const place = folderOf(t);
  cpSync(dist, join(place, 'wasmformer'), { recursive: true, filter: (path) => !/\/cli(\.js)?$/.test(path) });
  if (hasModel) addModel(place);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  return place;
}

const resultOf = async (page) => (await page.waitForFunction(() => globalThis.result, undefined, { timeout: 60_000 })).jsonValue();

test('two tabs share the model of a shared worker', async (t) => {
  const place = site(t, { 'index.html': page(''), 'shared.js': recipe('shared.js') }, { hasModel: false });
  const ask = (text) => new Promise((resolve) => {
    const { port } = new SharedWorker('shared.js', { type: 'module' });
    port.onmessage = ({ data }) => resolve(data);
    port.postMessage(text);
  });
  const { result } = await inBrowser('shared worker, two tabs', place, async (tab) => {
    const withoutModel = await tab.evaluate(ask, sentence);
    addModel(place);
    const other = await tab.context().newPage();
    await other.goto(tab.url());
    const texts = [twoSentences, sentence, 5];
    return [withoutModel, ...await Promise.all([tab, other, other].map((one, i) => one.evaluate(ask, texts[i])))];
  });
  assert.deepEqual(result, [
    { error: "the model's file: status 404" }, { text: await expectedText(twoSentences) }, { text: await expectedText() }, { error: '[translate] the text must be a string, not 5' },
  ]);
});

const policy = "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src data:; "
  + "require-trusted-types-for 'script'; trusted-types wasmformer";
const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
for (const [name, options] of [['its own worker', '{}'], ['workerURL', "{ workerURL: 'wasmformer/worker/worker.js' }"]]) {
  test(`a page that demands Trusted Types translates, with ${name} and threads`, async (t) => {
    const place = site(t, { 'index.html': page(loading(options)) });
    const { result } = await inBrowser(`Trusted Types, ${name}`, place, resultOf, { 'Content-Security-Policy': policy, ...isolation });
    assert.equal(result, await expectedText());
  });
}

test('a frame in a sandbox, whose origin is that of nobody, translates', async (t) => {
  const place = site(t, { 'index.html': page('<iframe sandbox="allow-scripts" src="frame.html"></iframe>'), 'frame.html': page(loading()) });
  const { result, complaints } = await inBrowser('frame in a sandbox', place, async (tab) => {
    await tab.waitForFunction(() => frames.length === 1);
    return resultOf(tab.frames()[1]);
  }, { 'Access-Control-Allow-Origin': '*' });
  assert.deepEqual([result, complaints], [await expectedText(), []]);
});

/** The folders that the recipe says to copy for the background of an extension. */
const copied = ['generated', 'shared', 'worker', 'wasm/relaxed'];

/** Runs `use` in Chromium with an extension in the folder `place`. */
async function withExtension(t, place, use) {
  // Extensions need the whole browser, not the one without windows.
  const context = await playwright.launchPersistentContext(folderOf(t), {
    executablePath: chromium(), headless: false,
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', `--disable-extensions-except=${place}`, `--load-extension=${place}`],
    ignoreDefaultArgs: ['--disable-extensions'],
  });
  try {
    const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker', { timeout: 60_000 });
    return await use(context, worker);
  } finally {
    await context.close();
  }
}

test('the background of a Manifest V3 extension translates', async (t) => {
  const place = folderOf(t);
  for (const name of copied) cpSync(join(dist, name), join(place, 'wasmformer', name), { recursive: true });
  for (const name of ['background.js', 'content.js', 'manifest.json']) writeFileSync(join(place, name), recipe(name));
  writeFileSync(join(place, 'index.html'), page(''));
  const { server, address } = await serve(site(t, { 'index.html': page('<h1>Danke</h1>') }), 0);
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const [texts, shown] = await withExtension(t, place, async (context, worker) => {
    const tab = await context.newPage();
    await tab.goto(new URL('index.html', worker.url()).href);
    const ask = (message) => tab.evaluate((message) => globalThis.chrome.runtime.sendMessage(message), message);
    const withoutModel = await ask(sentence);
    addModel(place);
    const answers = [withoutModel, await untilTranslated('background of an extension', () => ask(twoSentences)), await ask(5)];
    await tab.goto(address);
    const dialog = new Promise((resolve) => tab.once('dialog', resolve));
    const click = tab.dblclick('h1');
    const message = (await dialog).message();
    await (await dialog).accept();
    await click;
    return [answers, message];
  });
  assert.deepEqual(texts, [
    { error: 'Failed to fetch' }, { text: await expectedText(twoSentences) }, { error: '[translate] the text must be a string, not 5' },
  ]);
  assert.equal(shown, await expectedText('Danke'));
});

test('the background of an extension, bundled by esbuild, needs the module alone', async (t) => {
  const program = recipe('background.js').replace('./wasmformer/worker/engine.js', 'wasmformer/engine')
    .replace('./wasmformer/wasm/', 'wasmformer/wasm/');
  const made = project('extension', { 'background.js': program });
  const place = folderOf(t);
  const { metafile } = await build({
    entryPoints: [join(made, 'background.js')], bundle: true, format: 'esm', outdir: place, metafile: true, logLevel: 'error',
  });
  const [{ bytes }] = Object.values(metafile.outputs);
  assert.ok(bytes < 80_000, `${bytes} bytes`);
  cpSync(join(made, 'node_modules/wasmformer/dist/wasm/relaxed/wasmformer.wasm'), join(place, 'wasmformer/wasm/relaxed/wasmformer.wasm'));
  writeFileSync(join(place, 'manifest.json'), recipe('manifest.json'));
  for (const name of ['content.js', 'index.html']) writeFileSync(join(place, name), name === 'index.html' ? page('') : recipe(name));
  addModel(place);
  const answer = await withExtension(t, place, async (context, worker) => {
    const tab = await context.newPage();
    await tab.goto(new URL('index.html', worker.url()).href);
    return tab.evaluate((message) => globalThis.chrome.runtime.sendMessage(message), sentence);
  });
  assert.deepEqual(answer, { text: await expectedText() });
});
