// What goes wrong is said in one sentence, and the page goes on.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { builtPage, laptop, start, translated } from './support.mjs';

let folder, file, model, site;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wasmformer-page-'));
  cpSync(builtPage, folder, { recursive: true });
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
    const { page, errors, close } = await site.open();
    try {
      const text = await oneSentence(page);
      assert.match(text, /^The model could not be loaded: /);
      writeFileSync(file, model);
      await page.getByRole('button', { name: 'Try again' }).click();
      await translated(page);
      assert.equal(await page.getByRole('alert').count(), 0);
      assert.deepEqual(errors.filter((error) => !error.includes('404 (Not Found)')), []);
    } finally {
      await close();
    }
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
