// Pages that only a browser can show: a shared worker, Trusted Types, a frame in a sandbox, the background of an extension.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { chromium as playwright } from 'playwright-core';
import { chromium } from '../../bindings/tools/setup.mjs';
import { addModel, expectedText, inBrowser, recipe, sentence, untilTranslated } from './support.mjs';

const dist = join(import.meta.dirname, '../../dist');
const page = (body) => `<!doctype html><link rel="icon" href="data:,"><meta charset="utf-8">${body}`;
const loading = (options = '{}') => `<script type="module">
  import { Translator } from './wasmformer/index.js';
  const work = async () => (await (await Translator.load('model.safetensors', ${options})).translate(${JSON.stringify(sentence)})).text;
  globalThis.result = await work().catch(String);
</script>`;

/** A folder with a copy of the package, the model and these files. */
function site(t, files) {
  const place = mkdtempSync(join(tmpdir(), 'wasmformer-pages-'));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  cpSync(dist, join(place, 'wasmformer'), { recursive: true, filter: (path) => !/\/cli(\.js)?$/.test(path) });
  addModel(place);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  return place;
}

const resultOf = async (page) => (await page.waitForFunction(() => globalThis.result, undefined, { timeout: 60_000 })).jsonValue();

test('two tabs share the model of a shared worker', async (t) => {
  const place = site(t, { 'index.html': page(''), 'shared.js': recipe('shared.js') });
  const ask = (text) => new Promise((resolve) => {
    const { port } = new SharedWorker('shared.js', { type: 'module' });
    port.onmessage = ({ data }) => resolve(data);
    port.postMessage(text);
  });
  const { result, complaints } = await inBrowser('shared worker, two tabs', place, async (tab) => {
    const other = await tab.context().newPage();
    await other.goto(tab.url());
    return Promise.all([tab, other].map((one) => one.evaluate(ask, sentence)));
  });
  const expected = await expectedText();
  assert.deepEqual([result, complaints], [[expected, expected], []]);
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

test('the background of a Manifest V3 extension translates', async (t) => {
  const place = site(t, {
    'background.js': recipe('background.js'),
    'index.html': page(''),
    'manifest.json': JSON.stringify({
      manifest_version: 3, name: 'Translates', version: '1.0',
      background: { service_worker: 'background.js', type: 'module' },
      content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'" },
    }),
  });
  const profile = mkdtempSync(join(tmpdir(), 'wasmformer-profile-'));
  t.after(() => rmSync(profile, { recursive: true, force: true }));
  // Extensions need the whole browser, not the one without windows.
  const context = await playwright.launchPersistentContext(profile, {
    executablePath: chromium(), headless: false,
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', `--disable-extensions-except=${place}`, `--load-extension=${place}`],
    ignoreDefaultArgs: ['--disable-extensions'],
  });
  try {
    const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker', { timeout: 60_000 });
    const tab = await context.newPage();
    await tab.goto(new URL('index.html', worker.url()).href);
    const ask = (sentence) => globalThis.chrome.runtime.sendMessage(sentence);
    const text = await untilTranslated('background of an extension', () => tab.evaluate(ask, sentence));
    assert.equal(text, await expectedText());
  } finally {
    await context.close();
  }
});
