// Threads in the browser: in the page under hosts of each kind, and in the package as it is imported without a bundler.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../../web/serve.mjs';
import { builtPage, copyPage, expected, laptop, phone, screenshot, start, translate, translated } from './support.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
let plain, isolating;
before(async () => {
  plain = await start(builtPage, {});
  isolating = await start(root);
});
after(() => Promise.all([plain.stop(), isolating.stop()]));

const status = (page) => page.getByRole('region', { name: 'Model' }).innerText();
const threads = (count) => (count === 1 ? /\b1 thread\b/ : new RegExp(`\\b${count} threads\\b`));
const most = (page) => page.evaluate(() => Math.min(navigator.hardwareConcurrency, 8));
const registrations = (page) => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);

/** Opens the page and counts how often it is loaded. */
async function visit(site, options, prepare = () => {}) {
  const seen = { loads: 0 };
  const opened = await site.open({ serviceWorkers: 'allow', ...options }, (page) => {
    page.on('domcontentloaded', () => seen.loads++);
    return prepare(page);
  });
  await translated(opened.page);
  return { ...opened, seen };
}

for (const [name, size] of Object.entries({ laptop, phone })) {
  test(`${name}: on a host without headers the page isolates itself with one reload and uses all threads`, async () => {
    const { page, errors, seen, close } = await visit(plain, size);
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    assert.match(await status(page), threads(await most(page)));
    assert.equal(seen.loads, 2);
    for (const { source, translation } of expected) assert.equal(await translate(page, source), translation);
    await screenshot(page, `${name}-isolated`);
    // The next visit is isolated at once.
    await page.reload();
    await translated(page);
    assert.match(await status(page), threads(await most(page)));
    assert.equal(seen.loads, 3);
    assert.equal(await registrations(page), 1);
    assert.deepEqual(errors, []);
    await close();
  });
}

test('a run that begins before the page could isolate itself is not lost to the reload', async () => {
  const begins = [];
  const { page, close } = await plain.open({ serviceWorkers: 'allow', ...laptop }, async (page) => {
    await page.exposeFunction('begins', () => begins.push(page.url()));
    await page.addInitScript(() => {
      const press = setInterval(() => {
        const button = [...document.querySelectorAll('main button')].find(({ textContent }) => textContent.trim() === 'Start');
        if (!button) return;
        clearInterval(press);
        button.click();
        window.begins();
      }, 10);
    });
  }, '#laboratory?ablation=heads');
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForTimeout(1500);
  assert.equal(begins.length, 1);
  assert.ok(await page.getByRole('button', { name: 'Stop', exact: true }).isVisible());
  await close();
});

test('with the headers there is no reload; the service worker is installed for later visits', async () => {
  const site = await start();
  const { page, errors, seen } = await visit(site);
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  assert.match(await status(page), threads(await most(page)));
  assert.equal(seen.loads, 1);
  await page.evaluate(() => navigator.serviceWorker.ready);
  assert.equal(seen.loads, 1);
  assert.equal(await registrations(page), 1);
  assert.deepEqual(errors, []);
  await site.stop();
});

test('one press stores everything; then the page translates offline with a model that was never opened', async () => {
  const site = await start();
  const { page, errors } = await visit(site);
  await page.getByRole('link', { name: 'Models' }).click();
  const press = page.getByRole('button', { name: /^Keep everything for offline use/ });
  const [promised] = (await press.innerText()).match(/[\d.]+/);
  await press.click();
  const done = page.getByText(/^Everything is kept in this browser: /);
  await done.waitFor();
  const [size] = (await done.innerText()).match(/[\d.]+/);
  assert.ok(Math.abs(size - promised) < 2 && size > 24, `${promised} were promised, ${size} are kept`);
  assert.deepEqual(errors, []);
  await page.context().setOffline(true);
  site.server.close();
  site.server.closeAllConnections();
  await page.reload();
  await page.getByRole('button', { name: 'Use English → Chinese' }).click();
  await page.getByRole('link', { name: 'Translate' }).click();
  await page.getByRole('textbox', { name: 'English' }).fill('I met an old friend in the park yesterday.');
  await page.locator('.target').getByText('我昨天在公园里遇到了一位老朋友。').waitFor();
  const reached = await page.evaluate(async () => (await (await fetch('pairs/en-zh.tsv.gz')).arrayBuffer()).byteLength);
  assert.ok(reached > 1e5, 'sentence pairs to train with');
  for (const wanted of ['snips', 'ewt']) {
    await page.goto(`${site.address}#classify?encoder=${wanted}&input=I+saw+that+car.`);
    await page.getByTestId(wanted === 'snips' ? 'labels' : 'tagged').filter({ visible: true }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0, wanted);
  }
  await site.stop();
});

test('if service workers are blocked, refused or missing, as is Cache Storage, the page works with one thread', async () => {
  const without = [
    { serviceWorkers: 'block' },
    {
      prepare: (page) =>
        page.addInitScript(() => {
          ServiceWorkerContainer.prototype.register = () => Promise.reject(new DOMException('no', 'SecurityError'));
        }),
    },
    { prepare: (page) => page.addInitScript(() => (delete Navigator.prototype.serviceWorker, delete globalThis.caches)) },
  ];
  for (const { prepare, ...options } of without) {
    const { page, errors, seen, close } = await visit(plain, { ...laptop, ...options }, prepare);
    assert.equal(await page.evaluate(() => crossOriginIsolated), false);
    assert.match(await status(page), threads(1));
    assert.equal(seen.loads, 1);
    assert.deepEqual(errors, []);
    await close();
  }
});

test('a service worker that does not help is not tried again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-page-'));
  copyPage(folder);
  writeFileSync(join(folder, 'service-worker.js'), '');
  const site = await start(folder, {});
  const { page, seen } = await visit(site);
  for (const loads of [2, 3]) {
    assert.match(await status(page), threads(1));
    assert.equal(seen.loads, loads);
    await page.reload();
    await translated(page);
  }
  await site.stop();
  rmSync(folder, { recursive: true });
});

/** What the package at the address `index` answers in a bare page of `site`. */
async function usePackage(site, index, body) {
  const { page, close } = await site.open(laptop, () => {}, 'package.json');
  const result = await page.evaluate(
    async ({ index, body, model }) => {
      const { Translator } = await import(index);
      return new Function('Translator', 'model', `return (${body})(Translator, model)`)(Translator, model);
    },
    { index, body: String(body), model: new URL('tests/fixtures/tiny-de-en.safetensors', site.address).href },
  );
  await close();
  return result;
}

async function translateWithThreads(Translator, model) {
  const results = [];
  for (const threads of [1, 2, 3]) {
    const translator = await Translator.load(model, { threads });
    const { text, score } = await translator.translate('Das Wetter ist heute schön.', { beamSize: 3 });
    results.push({ threads: translator.info.threads, text, score });
    translator.dispose();
  }
  return results;
}

test('the package gives the same translations with 1, 2 and 3 threads', async () => {
  const results = await usePackage(isolating, '/dist/index.js', translateWithThreads);
  assert.deepEqual(results.map(({ threads }) => threads), [1, 2, 3]);
  assert.deepEqual(new Set(results.map(({ text, score }) => `${score} ${text}`)).size, 1);
});

async function translateWithin(Translator, model) {
  const outcomes = [];
  const texts = Array.from({ length: 300 }, (_, i) => `Das Wetter ist heute schön, aber morgen soll es regnen. ${i}`);
  for (const maximumMemory of [2 ** 28, 2 ** 25]) {
    const translator = await Translator.load(model, { threads: 2, maximumMemory });
    let count = 0;
    for await (const { text } of translator.translateAll(texts, { beamSize: 1 })) count += text !== '';
    const { code } = await translator.translate(texts, { attention: true, internals: true }).catch((error) => error);
    outcomes.push({ threads: translator.info.threads, count, code });
    translator.dispose();
  }
  return outcomes;
}

test('threads share a memory that is as large as maximumMemory says, and what needs more is refused with a code', async () => {
  const [usual, least] = await usePackage(isolating, '/dist/index.js', translateWithin);
  assert.deepEqual({ threads: usual.threads, count: usual.count }, { threads: 2, count: 300 });
  assert.deepEqual(least, { threads: 2, count: 300, code: 'out-of-memory' });
});

test('the package has threads when loaded from another host, such as a CDN', async () => {
  const { server, address } = await serve(join(root, 'dist'), 0, { 'Access-Control-Allow-Origin': '*' });
  const results = await usePackage(isolating, `${address}index.js`, translateWithThreads);
  assert.deepEqual(results.map(({ threads }) => threads), [1, 2, 3]);
  server.close();
  server.closeAllConnections();
});

test('a page that is not isolated is told which headers are missing', async () => {
  const site = await start(root, {});
  const message = await usePackage(site, '/dist/index.js', (Translator, model) =>
    Translator.load(model, { threads: 2 }).catch((error) => error.message),
  );
  assert.equal(
    message,
    '[load] threads is 2, but this page is not cross-origin isolated; serve it over https with the headers '
    + "'Cross-Origin-Opener-Policy: same-origin' and 'Cross-Origin-Embedder-Policy: require-corp'; or use 1 or 'auto'",
  );
  await site.stop();
});
