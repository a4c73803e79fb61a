// Models from files and addresses, what is refused, and the page without a network.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { box, builtPage, chosen, copyPage, expected, go, laptop, phone, share, show, start, translate, translated, until } from './support.mjs';
import { withView } from './views.mjs';

const file = fileURLToPath(new URL('../fixtures/tiny-de-en.safetensors', import.meta.url));
const bytes = readFileSync(file);
const address = 'https://models.example/tiny.safetensors';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const withModels = (options, use, prepare) => withView(site, options, '#models', async (page, errors) => {
  await page.getByText('in use', { exact: true }).waitFor();
  await use(page, errors);
}, prepare);

const own = ['German → English', 'English → German', 'English → Chinese', 'French → English', 'Chinese → English'];
const choose = (page, id) => page.getByRole('combobox', { name: 'Model' }).selectOption(id);
const models = (page) => page.locator('main li .name').allInnerTexts();
const inUse = (page, name) => page.locator('li', { has: page.locator('.name', { hasText: name }) }).getByText('in use').waitFor();
const alert = async (page) => {
  const text = await page.getByRole('alert').innerText();
  assert.match(text, /^[A-Z].*\.$/);
  return text;
};

/** Drops a file that `make` makes in the page. */
const drop = (page, make, argument) =>
  page.evaluate(async ({ make, argument }) => {
    const data = new DataTransfer();
    data.items.add(await new Function('argument', `return (${make})(argument)`)(argument));
    for (const type of ['dragover', 'drop']) {
      document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  }, { make: String(make), argument });

/** The page goes on with the model that it has. */
async function goesOn(page) {
  await go(page, 'Translate');
  const { source, translation } = expected[0];
  assert.equal(await translate(page, source), translation);
}

for (const [name, size] of Object.entries({ laptop, phone })) {
  test(`${name}: a picked file is used, listed with its size, restored by its link, and deleted`, () =>
    withModels(size, async (page) => {
      assert.deepEqual(await models(page), own);
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('button', { name: 'Choose files' }).press('Enter'),
      ]);
      await chooser.setFiles(file);
      await inUse(page, 'tiny-de-en');
      await page.getByText(/^German → English · [\d.]+ MB · from a file, saved in this browser$/).waitFor();
      await show(page, `${name}-models`);
      await chosen(page, 'file:tiny-de-en.safetensors');
      await page.waitForURL(/model=file%3Atiny-de-en\.safetensors/);
      await page.reload();
      await inUse(page, 'tiny-de-en');
      await choose(page, 'de-en');
      await inUse(page, 'German → English');
      await page.getByRole('button', { name: 'Delete tiny-de-en from this browser' }).press('Enter');
      await page.waitForFunction((count) => document.querySelectorAll('main li .name').length === count, own.length);
      await page.goto(`${site.address}#models?model=file%3Atiny-de-en.safetensors`);
      await page.reload();
      assert.match(await alert(page), /tiny-de-en\.safetensors” in this link is not saved in this browser/);
      await inUse(page, 'German → English');
    }));
}

test("the page's other models have examples in their language, and a link restores them", () =>
  withModels(laptop, async (page) => {
    assert.deepEqual(await models(page), own);
    await go(page, 'Translate');
    const first = { English: 'I met an old friend in the park yesterday.', French: "Hier, j'ai rencontré un vieil ami dans le parc.", Chinese: '我昨天在公园遇见了一位老朋友。' };
    for (const [id, source, word] of [
      ['fr-en', 'French', /old friend/], ['zh-en', 'Chinese', /old friend/], ['en-de', 'English', /Freund/], ['en-zh', 'English', /老朋友/],
    ]) {
      await choose(page, id);
      await box(page, source).waitFor();
      await translated(page);
      assert.equal(await box(page, source).inputValue(), first[source]);
      assert.match(await page.locator('.target').innerText(), word);
      await page.waitForURL(new RegExp(`model=${id}`));
    }
    await box(page, 'English').fill('I met an old friend in the park yesterday.');
    await page.waitForURL(/text=I/);
    await page.reload();
    await translated(page);
    await chosen(page, 'en-zh');
    assert.equal(await box(page, 'English').inputValue(), 'I met an old friend in the park yesterday.');
    // A text of the visitor's own stays.
    await choose(page, 'de-en');
    await box(page, 'German').waitFor();
    assert.equal(await box(page, 'German').inputValue(), 'Ich habe gestern im Park einen alten Freund getroffen.');
    await translate(page, 'Hallo!');
    await choose(page, 'en-de');
    await box(page, 'English').waitFor();
    assert.equal(await box(page, 'English').inputValue(), 'Hallo!');
  }));

test('a file dropped anywhere is used', () =>
  withModels(laptop, async (page) => {
    await go(page, 'Translate');
    await drop(page, async () => new File([await (await fetch('models/de-en.safetensors')).blob()], 'mine.safetensors'));
    await chosen(page, 'file:mine.safetensors');
  }));

test('a model loads from an address, with a progress bar that can be canceled, and is downloaded once', () =>
  withModels(laptop, async (page) => {
    const seen = [];
    let isSlow = true;
    const headers = { 'Access-Control-Allow-Origin': '*', ETag: '"1"', 'Access-Control-Expose-Headers': 'ETag' };
    await page.route(address, async (route) => {
      seen.push(route.request().method());
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 2000));
      await route.fulfill({ body: route.request().method() === 'GET' ? bytes : '', headers }).catch(() => {});
    });
    const field = page.getByRole('textbox', { name: 'URL of a model' });
    await field.fill(address);
    await field.press('Enter');
    await page.getByRole('progressbar').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await alert(page), 'Loading was canceled.');
    isSlow = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await inUse(page, 'tiny (models.example)');
    await page.getByText(/from a URL, saved in this browser$/).waitFor();
    const downloads = seen.filter((method) => method === 'GET').length;
    await page.waitForURL(/model=https/);
    await page.reload();
    await inUse(page, 'tiny (models.example)');
    assert.equal(seen.filter((method) => method === 'GET').length, downloads);
  }));

const folder = fileURLToPath(new URL('../fixtures/marian/tiny', import.meta.url));
const parts = readdirSync(folder).filter((name) => name !== 'pytorch_model.bin');

for (const [name, size] of Object.entries({ laptop, phone })) {
  test(`${name}: the files of a MarianMT folder become a model, with 8-bit or original weights, which is kept`, () =>
    withModels(size, async (page) => {
      const take = async (precision) => {
        await page.getByText(precision, { exact: true }).click();
        const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files' }).click()]);
        await chooser.setFiles(parts.map((part) => join(folder, part)));
      };
      await take('8-bit');
      await inUse(page, 'Marian');
      await page.getByText(/ INT8$/).waitFor();
      await take('original');
      await inUse(page, 'Marian (2)'); // the first one stays
      await page.getByText(/ F32$/).waitFor();
      await page.waitForURL(/model=file%3AMarian\+%282%29\.safetensors/);
      await page.reload();
      await inUse(page, 'Marian (2)');
    }));
}

test('a folder dropped anywhere becomes a model with its name', () =>
  withModels(laptop, async (page) => {
    const devtools = await page.context().newCDPSession(page);
    const data = { items: [], files: [folder], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) await devtools.send('Input.dispatchDragEvent', { type, x: 300, y: 600, data });
    await inUse(page, 'tiny');
    await page.getByText(/ INT8$/).waitFor();
  }));

test('a MarianMT folder loads from its address; a missing file is named, and the page keeps working', () =>
  withModels(laptop, async (page, errors) => {
    const served = new Set(parts);
    const headers = { 'Access-Control-Allow-Origin': '*' };
    await page.route('https://models.example/someone/opus-mt-fr-en/resolve/main/*', (route) => {
      const name = basename(new URL(route.request().url()).pathname);
      const answer = served.has(name) ? { body: readFileSync(join(folder, name)) } : { status: 404 };
      return route.fulfill({ ...answer, headers }).catch(() => {});
    });
    const field = page.getByRole('textbox', { name: 'URL of a model' });
    const fetchIt = async () => {
      await field.fill('https://models.example/someone/opus-mt-fr-en/resolve/main');
      await field.press('Enter');
    };
    served.delete('vocab.json');
    await fetchIt();
    assert.match(await alert(page), /has no vocab\.json/);
    served.add('vocab.json');
    await page.getByRole('button', { name: 'Try again' }).click();
    await inUse(page, 'opus-mt-fr-en');
    await page.getByText(/^French → English · /).waitFor();
    errors.length = 0; // the browser's own lines on what is not there
  }));

test('a model of another kind is refused by its name, and the page keeps working', () =>
  withModels(laptop, async (page) => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files' }).click()]);
    const config = Buffer.from(JSON.stringify({ model_type: 't5' }));
    await chooser.setFiles([{ name: 'config.json', mimeType: 'application/json', buffer: config }]);
    assert.match(await alert(page), /t5/);
    await goesOn(page);
  }));

test('300 MB of text, another version, a broken download: a one-sentence error each, and the page keeps working', async () => {
  const other = Buffer.from(bytes.toString('latin1').replace(/"version":"(\d)"/, '"version":"9"'), 'latin1');
  assert.notDeepEqual(other, bytes);
  const files = {
    'notes.txt': [() => new File(Array(300).fill('A line of it.\n'.padEnd(1e6, '-')), 'notes.txt'), /notes\.txt is not a model file/],
    'other.safetensors': [
      (data) => new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], 'other.safetensors'),
      /version/,
      other.toString('base64'),
    ],
  };
  await withModels(laptop, async (page, errors) => {
    for (const [make, sentence, argument] of Object.values(files)) {
      await drop(page, make, argument);
      await page.getByRole('alert').filter({ hasText: sentence }).waitFor();
      assert.match(await alert(page), sentence);
      await goesOn(page);
      await go(page, 'Models');
    }
    const request = site.server.listeners('request')[0];
    site.server.removeAllListeners('request');
    site.server.on('request', (asked, response) => {
      if (!asked.url.includes('broken')) return request(asked, response);
      response.writeHead(200, { 'Content-Length': bytes.length }).write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    });
    await page.getByRole('textbox', { name: 'URL of a model' }).fill(`${site.address}broken.safetensors`);
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByRole('alert').filter({ hasText: /broke off|ended after/ }).waitFor();
    await alert(page);
    await goesOn(page);
    site.server.removeAllListeners('request').on('request', request);
    errors.splice(0, errors.length, ...errors.filter((error) => !/ERR_CONTENT_LENGTH|ERR_INCOMPLETE|ERR_CONNECTION|ERR_EMPTY/.test(error)));
  });
});

test('if storage is full or forbidden, the model is still used, and the page says that it is not kept', async () => {
  const full = async (page) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(site.address).origin, quotaSize: 1000 });
  };
  const forbidden = (page) =>
    page.addInitScript(() => (CacheStorage.prototype.open = () => Promise.reject(new DOMException('no', 'SecurityError'))));
  for (const prepare of [full, forbidden]) {
    await withModels(laptop, async (page) => {
      await page.locator('input[type=file]').setInputFiles(file);
      await inUse(page, 'tiny-de-en');
      assert.match(await alert(page), /^The model is ready to use but could not be saved for your next visit: /);
      assert.match(await page.locator('main li').last().innerText(), /only until you leave this page/);
      await go(page, 'Translate');
      await translate(page, expected[0].source);
    }, prepare);
  }
});

test('without WebAssembly SIMD there is a one-sentence error, and the page can still be viewed', async () => {
  const { page, errors, close } = await site.open(laptop, (page) =>
    page.route('**/assets/worker-*.js', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: `WebAssembly.validate = () => false;\n${await response.text()}` });
    }),
  );
  assert.match(await alert(page), /^The model could not be loaded: this browser has no WebAssembly SIMD/);
  assert.match(await page.locator('.target').innerText(), /\w/, 'the example of the build');
  await go(page, 'About');
  await page.getByRole('heading', { name: 'What is this?' }).waitFor();
  assert.deepEqual(errors, []);
  await close();
});

const kept = (page) =>
  until(page, async () => {
    const name = (await caches.keys()).find((key) => key.startsWith('wasmformer-page-'));
    const urls = name ? (await (await caches.open(name)).keys()).map(({ url }) => url) : [];
    return urls.some((url) => url.endsWith('.wasm')) && urls.some((url) => url.endsWith('.mjs')) && urls.some((url) => url.endsWith('/'));
  });

// As on a slow network, the page does not wait for its service worker, which then isolates only the next visit.
const hurry = (page) =>
  page.addInitScript(() => {
    const { setTimeout } = window;
    window.setTimeout = (call, ms, ...rest) => setTimeout(call, ms === 3000 ? 0 : ms, ...rest);
  });

for (const [name, { headers, prepare }] of Object.entries({
  'its headers': {},
  'no headers': { headers: {} },
  'no headers, over a slow network': { headers: {}, prepare: hurry },
})) {
  test(`after one visit the page works offline, from a host that sends ${name}`, async (t) => {
    const visited = await start(builtPage, headers);
    t.after(() => visited.stop());
    const { page, errors, close } = await visited.open({ ...laptop, serviceWorkers: 'allow' }, prepare);
    await translated(page);
    await kept(page);
    const status = await page.getByRole('region', { name: 'Model' }).innerText();
    assert.equal(await page.evaluate(() => crossOriginIsolated), !prepare);
    visited.server.close();
    visited.server.closeAllConnections();
    await page.reload();
    await translated(page);
    const { source, translation } = expected[0];
    assert.equal(await translate(page, source), translation);
    const facts = (text) => text.split('\n').filter((line) => !line.includes('tokens/s'));
    if (prepare) assert.ok(await page.evaluate(() => crossOriginIsolated));
    else assert.deepEqual(facts(await page.getByRole('region', { name: 'Model' }).innerText()), facts(status), 'as many threads');
    const titles = { Translate: 'Wasmformer', Inside: 'Figure' };
    for (const place of await page.getByRole('banner').getByRole('navigation').getByRole('link').allInnerTexts()) {
      await go(page, place);
      await page.waitForFunction((title) => document.title.startsWith(title), titles[place] ?? place);
      assert.equal(await page.getByRole('alert').count(), 0, place);
    }
    // Only a press of "Keep everything for offline use" stores the model that classifies.
    await go(page, 'Translate');
    await page.getByRole('link', { name: 'Classify and tag', exact: true }).click();
    await page.waitForFunction(() => document.title.startsWith('Classify'));
    await page.getByRole('alert').getByText('snips.safetensors could not be fetched').waitFor();
    // Only asking for a newer version of the page and of the model has failed.
    assert.deepEqual(errors.filter((error) => !/ERR_CONNECTION_REFUSED|ERR_FAILED|service worker/i.test(error)), []);
    await close();
  });
}

test('a newer version of the page is offered and installed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-page-'));
  copyPage(folder);
  const visited = await start(folder);
  t.after(async () => {
    await visited.stop();
    rmSync(folder, { recursive: true });
  });
  const { page, errors } = await visited.open({ ...laptop, serviceWorkers: 'allow' });
  await translated(page);
  await kept(page);
  const worker = join(folder, 'service-worker.js');
  writeFileSync(worker, readFileSync(worker, 'utf8').replace(/"version":"\w+"/, '"version":"newer"'));
  writeFileSync(join(folder, 'index.html'), readFileSync(join(folder, 'index.html'), 'utf8').replace('<html', '<html data-newer'));
  await page.reload();
  await page.getByRole('button', { name: 'Update' }).click();
  await page.locator('html[data-newer]').waitFor();
  await until(page, async () => (await caches.keys()).filter((key) => key.startsWith('wasmformer-page-')).join() === 'wasmformer-page-newer');
  await translated(page);
  assert.equal(await page.getByText('new version').count(), 0);
  assert.equal(await box(page).count(), 1);
  assert.deepEqual(errors, []);
});
