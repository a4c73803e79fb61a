// What goes wrong is said in one sentence, and the page goes on.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { box, builtPage, copyPage, expected, laptop, start, translate, translated } from './support.mjs';
import { endWorkers, watchWorkers } from './views.mjs';

let folder, file, model, site;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wasmformer-page-'));
  copyPage(folder);
  const models = join(folder, 'models');
  file = join(models, readdirSync(models)[0]);
  model = readFileSync(file);
  site = await start(folder);
});
after(async () => {
  await site.stop();
  rmSync(folder, { recursive: true });
});

async function oneSentence(page) {
  const alert = page.getByRole('alert');
  const text = await alert.innerText();
  assert.match(text, /^[A-Z].*\.$/s);
  assert.doesNotMatch(text, /\n|undefined|\[object|\.\./, text);
  return text;
}

const damages = {
  'a missing model': () => rmSync(file),
  'a file that is no model': () => writeFileSync(file, Buffer.alloc(100_000, 'garbage ')),
  'a model cut in the middle': () => writeFileSync(file, model.subarray(0, model.length / 2)),
  'an empty file': () => writeFileSync(file, ''),
};

for (const [name, damage] of Object.entries(damages)) {
  test(`${name}: a one-sentence error, and retrying works`, async () => {
    damage();
    const { page, errors } = await site.visit();
    const text = await oneSentence(page);
    assert.match(text, /^The model could not be loaded: /);
    writeFileSync(file, model);
    await page.getByRole('button', { name: 'Try again' }).click();
    await translated(page);
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.deepEqual(errors.filter((error) => !error.includes('404 (Not Found)')), []);
  });
}

test('loading can be canceled and restarted', async () => {
  const { page, close } = await site.open(laptop, (page) =>
    page.route('**/models/*', (route) => setTimeout(() => route.continue().catch(() => {}), 1000)),
  );
  try {
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await oneSentence(page), 'Loading was canceled.');
    await page.getByRole('button', { name: 'Try again' }).click();
    await translated(page);
  } finally {
    await close();
  }
});

test('a model is loaded again when the browser has ended its worker', async () => {
  writeFileSync(file, model);
  const { page, errors, close } = await site.open(laptop, async (page) => {
    await watchWorkers(page);
    await page.addInitScript(() => {
      const { now } = Performance.prototype;
      window.ahead = 0; // milliseconds that the page believes to have passed
      Performance.prototype.now = function () {
        return now.call(this) + window.ahead;
      };
    });
  });
  try {
    await translated(page);
    const { source, translation } = expected[0];
    await page.evaluate(() => (window.ahead = 5000)); // a worker that ends sooner is not replaced
    await endWorkers(page);
    await box(page).fill(source);
    await page.locator('.target').getByText(translation, { exact: true }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
});

// With one thread: its memory can grow, whereas that of several has a fixed limit from the start.
test('a tab without enough memory says so, keeps what it has, and goes on once there is more', async (t) => {
  const alone = await start(builtPage, {});
  t.after(() => alone.stop());
  let most = 16 * 2 ** 20;
  const limited = () => `
    let most = ${most};
    new BroadcastChannel('most memory').onmessage = ({ data }) => (most = data);
    const { grow } = WebAssembly.Memory.prototype;
    WebAssembly.Memory.prototype.grow = function (pages) {
      if (this.buffer.byteLength + pages * 65_536 > most) throw new RangeError('no more memory');
      return grow.call(this, pages);
    };\n`;
  const { page, errors, close } = await alone.open(laptop, (page) =>
    page.route('**/assets/worker-*.js', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: limited() + await response.text() });
    }));
  const allow = async (bytes) => {
    most = bytes; // for workers to come
    await page.evaluate((bytes) => new BroadcastChannel('most memory').postMessage(bytes), bytes);
  };
  assert.match(await oneSentence(page), /^The model could not be loaded: .*: there is not enough memory for this\.$/);
  await allow(20 * 2 ** 20);
  await page.getByRole('button', { name: 'Try again' }).click();
  await translated(page);
  const { source, translation } = expected[0];
  await box(page).fill(`${source.slice(0, -1)} und `.repeat(100));
  assert.match(await oneSentence(page), /not enough memory/);
  await allow(Infinity);
  assert.equal(await translate(page, source), translation);
  assert.equal(await page.getByRole('alert').count(), 0);
  assert.deepEqual(errors, []);
  await close();
});
