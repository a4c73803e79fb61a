// What must work in every browser: the package in an empty page, then the page itself, as a visitor goes through it.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '../../bindings/tools/shell.mjs';
import { pageHeaders, serve } from '../../web/serve.mjs';
import { looks, places, settled, text as shortText } from '../e2e/looks.mjs';
import { builtPage, expected, laptop, phone } from '../e2e/support.mjs';
import { browsers } from './drivers.mjs';

const empty = 'tests/bench/page.html';
const model = '/web/public/models/de-en.safetensors';
const [{ translation }, another] = expected;
/** As `places`, with the views that other tests of the page look at in Chromium. */
const everyPlace = [
  ...places,
  [`#code?${shortText}`, '[data-testid=source] [data-testid=value]'],
  ['#lecture/start', '[data-stop=start] [data-ring]'],
  ['#lecture/heads', '[data-stop=heads] [data-ring]'],
];

// These run in the browser.
const translate = async ({ model, sources, options }) => {
  const { Translator } = await import('/dist/index.js');
  const translator = await Translator.load(model, options);
  const texts = (await translator.translate(sources)).map(({ text }) => text);
  const { build, threads } = translator.info;
  translator.dispose();
  return { texts, build, threads };
};
const share = async ({ model, sources }) => {
  const messages = []; // count per worker
  globalThis.Worker = class extends Worker {
    #number = messages.push(0) - 1;
    postMessage(...all) {
      messages[this.#number]++;
      super.postMessage(...all);
    }
  };
  const { Translator } = await import('/dist/index.js');
  const [first, second] = [await Translator.load(model), await Translator.load(model)];
  messages.fill(0);
  const texts = [];
  for await (const { text } of first.translateAll(sources, { batchSize: 1, others: [second] })) texts.push(text);
  first.dispose();
  second.dispose();
  return { texts, busy: messages.filter((count) => count > 1).length };
};
const train = async ({ threads }) => {
  const { Trainer } = await import('/dist/index.js');
  const config = { d_model: 32, ffn_dim: 64, num_heads: 2, encoder_layers: 1, decoder_layers: 1, batch_tokens: 256 };
  const trainer = await Trainer.create({ task: { name: 'reverse', pairs: 200 }, config, ...(threads && { threads }) });
  const losses = [];
  for await (const { loss } of trainer.run({ steps: 30, reportEvery: 5 })) losses.push(loss);
  const again = await Trainer.resume(await trainer.save(), { threads: 1 });
  const { step } = again.info;
  const { text } = await again.translate('abc');
  trainer.dispose();
  again.dispose();
  return { losses, step, text };
};
/** What of tests/standard/behaviors.mjs fails in the page, or in a worker of it, and how many checks there are. */
const standardFailures = async ({ model, inWorker }) => {
  const { failures, names, words } = await import('/tests/standard/behaviors.mjs');
  const { Translator } = await import('/dist/index.js');
  const address = new URL('/dist/standard/index.js', location.href).href;
  const place = { standard: await import(address), address, model: new URL(model, location.href).href, words };
  if (!inWorker) return { failed: await failures(place, await Translator.load(place.model)), count: names.length };
  const worker = new Worker('/tests/standard/worker.mjs', { type: 'module' });
  worker.postMessage(place.model);
  const failed = await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  });
  worker.terminate();
  return { failed, count: names.length };
};
const shown = () => ({
  ready: document.querySelectorAll('.status li').length > 0,
  text: document.querySelector('.target [role=group][aria-busy=false]')?.innerText.trim(),
});
const alerts = () => [...document.querySelectorAll('[role=alert]')].map(({ innerText }) => innerText);

/**
 * `build`: the module that the browser runs; `threads`: whether isolated pages have them; `keeps`: whether Cache Storage
 * outlives the page, which it does not in the private window that WebKit opens for WebDriver.
 */
export function checks(name, { build, threads, keeps = true }) {
  let browser, isolated, plain, page;
  const downloads = [];
  before(async () => {
    [isolated, plain, page] = await Promise.all([serve(root), serve(root, 0, {}), serve(builtPage, 0, pageHeaders)]);
    isolated.server.on('request', ({ method, url }) => method === 'GET' && url.endsWith('.safetensors') && downloads.push(url));
    browser = await browsers[name].launch();
    console.log(`${name} ${browser.version}`);
  });
  after(async () => {
    await browser?.close();
    for (const { server } of [isolated, plain, page]) {
      server.close();
      server.closeAllConnections();
    }
  });
  const most = () => browser.evaluate(() => Math.min(navigator.hardwareConcurrency, 8));
  const translated = (options) =>
    browser.evaluate(translate, { model, sources: expected.map(({ source }) => source), options });
  const texts = expected.map(({ translation }) => translation);

  test('without isolation the package translates with one thread, and says what more threads need', async () => {
    await browser.open(plain.address + empty);
    assert.deepEqual(await translated({}), { texts, build, threads: 1 });
    await assert.rejects(translated({ threads: 2 }), /not cross-origin isolated.+Cross-Origin-Opener-Policy/);
  });

  test('without isolation two workers split many texts and keep their order', async () => {
    await browser.open(plain.address + empty);
    const sources = Array.from({ length: 5 }, () => expected.map(({ source }) => source)).flat();
    assert.deepEqual(await browser.evaluate(share, { model, sources }),
      { texts: Array.from({ length: 5 }, () => texts).flat(), busy: 2 });
  });

  test(`on an isolated page it has ${threads ? 'a thread for each core' : 'one thread, and says why'}`, async () => {
    await browser.open(isolated.address + empty);
    assert.equal(await browser.evaluate(() => crossOriginIsolated), true);
    assert.deepEqual(await translated({}), { texts, build, threads: threads ? await most() : 1 });
    if (threads) assert.deepEqual(await translated({ threads: 2 }), { texts, build, threads: 2 });
    else await assert.rejects(translated({ threads: 2 }), /there is no shared WebAssembly memory here/);
  });

  test('training, saving and resuming give the same numbers with any number of threads', async () => {
    await browser.open(isolated.address + empty);
    const one = await browser.evaluate(train, { threads: 1 });
    assert.ok(one.losses.at(-1) < one.losses[0] - 0.1, `losses ${one.losses}`);
    assert.equal(one.step, 30);
    assert.deepEqual(await browser.evaluate(train, {}), one);
  });

  for (const where of ['a page', 'a worker']) {
    test(`in ${where}, Translator and LanguageDetector do what the standard says`, async () => {
      await browser.open(plain.address + empty);
      const { failed, count } = await browser.evaluate(standardFailures, { model, inWorker: where === 'a worker' });
      console.log(`${name}, ${where}: ${count - Object.keys(failed).length} of ${count} behaviors of the standard`);
      assert.deepEqual(failed, {});
    });
  }

  test(`a model is listed, deleted and ${keeps ? 'kept over a reload' : 'downloaded again after a reload'}`, async () => {
    const stored = (what) => browser.evaluate(async (what) => (await import('/dist/index.js')).storedModels[what](), what);
    await browser.open(isolated.address + empty);
    // A private window of WebKit empties a cache that no page has open as soon as the worker that filled it ends, and for
    // good: the one that the tests before left takes nothing more.
    await browser.evaluate(async () => {
      await caches.delete('wasmformer-models');
      globalThis.held = await caches.open('wasmformer-models');
    });
    await stored('clear');
    downloads.length = 0;
    await translated({});
    const [{ url, bytes }, ...more] = await stored('list');
    assert.deepEqual([new URL(url).pathname, bytes, more.length], [model, statSync(join(root, model)).size, 0]);
    await browser.open(isolated.address + empty);
    await translated({});
    assert.equal(downloads.length, keeps ? 1 : 2);
    await stored('clear');
    assert.deepEqual(await stored('list'), []);
  });

  test('the element draws the attention of what is typed', async () => {
    await browser.open(`${plain.address}bindings/examples/browser/`);
    const drawn = (before) => browser.until((before) => {
      const canvas = document.querySelector('wasmformer-attention').shadowRoot?.querySelector('[role=application] canvas');
      const picture = canvas?.width > 0 && canvas.toDataURL();
      const said = document.querySelector('#target').innerText;
      return picture && picture !== before?.picture && said !== before?.said && { picture, said };
    }, before);
    const before = await drawn();
    assert.equal(before.said, translation);
    await browser.type('#source', another.source);
    await browser.until((wanted) => document.querySelector('#target').innerText === wanted, another.translation);
    await drawn(before);
    const colours = await browser.evaluate(() => {
      const canvas = document.querySelector('wasmformer-attention').shadowRoot.querySelector('[role=application] canvas');
      return new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
    });
    assert.ok(colours > 10, `${colours} colours`);
  });

  test('the page starts with an example, and translates what is typed', async () => {
    await browser.open(page.address);
    const { text } = await browser.until(`() => { const found = (${shown})(); return found.text && found; }`);
    await browser.until(`() => (${shown})().ready`);
    assert.equal((await browser.evaluate(shown)).text, text, 'the model says the same as the example');
    await browser.type('#source', another.source);
    await browser.until(`(wanted) => (${shown})().text === wanted`, another.translation);
    const status = await browser.evaluate(() => document.querySelector('.status').innerText);
    const count = threads ? await most() : 1;
    assert.match(status, new RegExp(`\\b${count} threads?\\b`));
    assert.deepEqual(await browser.evaluate(alerts), []);
  });

  test('How it works shows the same sentence in the picture', async () => {
    // With a service worker that has just come, beside threads that sleep: Firefox once loaded nothing for a minute.
    if (threads) await browser.until(() => navigator.serviceWorker.controller?.state);
    await browser.click('header nav a', 'Inside');
    await browser.until(() => document.querySelector('[data-testid=figure] [data-place="enc.1.self"]'));
    const words = await browser.evaluate(() => document.querySelector('main').innerText);
    assert.match(words, /gestern/);
    await browser.click('[data-testid=figure] [data-place="dec.1.cross"]');
    await browser.until(() => new URLSearchParams(location.hash.split('?')[1]).get('at') === 'dec.1.cross');
    assert.deepEqual(await browser.evaluate(alerts), []);
  });

  test('nothing is cut off, covered or outside the page in any view, narrow or wide', async () => {
    const unfold = () => {
      const closed = document.querySelectorAll('main details:not([open])');
      closed.forEach((one) => (one.open = true));
      return closed.length === 0;
    };
    const found = {};
    for (const { viewport: { width, height } } of [phone, laptop]) {
      await browser.resize(width, height);
      for (const [address, drawn] of everyPlace) {
        await browser.open('about:blank');
        await browser.open(page.address + address);
        const [selector, nth = 0] = drawn.split(' >> nth=');
        await browser.until((selector, nth) => !!document.querySelectorAll(selector)[nth], selector, nth);
        await browser.until(settled);
        await browser.until(unfold);
        found[`${address}, ${await browser.evaluate(() => innerWidth)} pixels wide`] = await browser.evaluate(looks);
      }
    }
    assert.deepEqual(Object.entries(found).filter(([, all]) => all.length), []);
  });

  test('a page that is left while it reads the stored runs does not block the next one', async () => {
    // Runs `act` on the object store of the runs, created if missing, and says how its transaction ends.
    const withRuns = (act) => browser.evaluate(`async () => {
      const request = indexedDB.open('wasmformer-runs');
      request.onupgradeneeded = () => request.result.createObjectStore('runs');
      const database = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
      const transaction = database.transaction('runs', 'readwrite');
      (${act})(transaction.objectStore('runs'));
      const ended = new Promise((resolve) => {
        transaction.oncomplete = () => resolve('written');
        transaction.onabort = () => resolve(String(transaction.error));
      });
      database.close();
      return Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 60_000, 'blocked'))]);
    }`);
    await browser.open(page.address);
    assert.equal(await withRuns((runs) => {
      for (let i = 0; i < 100; i++) runs.put(new ArrayBuffer(2e6), `other:${i}`);
    }), 'written');
    await browser.open('about:blank');
    await browser.open(`${page.address}#train`);
    await browser.until(() => document.querySelector('main')?.innerText.includes('Your own pairs'));
    await browser.open('about:blank');
    await browser.open(page.address);
    assert.equal(await withRuns((runs) => runs.clear()), 'written');
  });

  test('Train runs to the end, and the run is there after a reload', async () => {
    await browser.click('header nav a', 'Train');
    await browser.until(() => document.querySelector('main').innerText.includes('Your own pairs'));
    await browser.open('about:blank'); // settings in a link are only read on a fresh load
    const setup = encodeURIComponent('data:reverse,pairs:500,steps:90,batch_tokens:256');
    await browser.open(`${page.address}#train?setup=${setup}`);
    await browser.click('main button', 'Start training');
    const isFinished = () => document.querySelector('.runs > table tbody')?.innerText.includes('finished');
    await browser.until(isFinished);
    assert.deepEqual(await browser.evaluate(alerts), []);
    await browser.open('about:blank');
    await browser.open(`${page.address}#train`);
    await browser.until(isFinished);
  });
}
