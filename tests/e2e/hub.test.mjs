// A model of Hugging Face by its name, with a browser's own cache and locks; a route stands in for the host.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { start } from './support.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'tests/fixtures/marian/tiny');
const model = 'Helsinki-NLP/opus-mt-xx-yy';
const headers = { 'access-control-allow-origin': '*', etag: '"1"' };

let site;
before(async () => (site = await start(root)));
after(() => site.stop());

/** Runs in the page. */
async function translation(model) {
  const { Translator } = await import('/dist/index.js');
  const translator = await Translator.load(model);
  const { text } = await translator.translate('c d e');
  translator.dispose();
  return text;
}

test('two tabs that load a model by name at once download it once, and later ones need no network', async () => {
  const downloads = [];
  const stand = async (route) => {
    const request = route.request();
    const [, name, file] = /^https:\/\/huggingface\.co\/(.+)\/resolve\/main\/([^/]+)$/.exec(request.url()) ?? [];
    if (request.method() === 'GET') downloads.push(file);
    const isThere = name === model && existsSync(join(folder, file));
    await route.fulfill({ headers, ...(isThere ? { body: readFileSync(join(folder, file)) } : { status: 404 }) });
  };
  const { page, errors, close } = await site.open({}, (page) => page.context().route('https://huggingface.co/**', stand), 'tests/bench/page.html');
  const other = await page.context().newPage();
  await other.goto(page.url());
  const both = await Promise.all([page, other].map((tab) => tab.evaluate(translation, model)));
  assert.equal(both[0], both[1]);
  assert.equal(downloads.filter((file) => file === 'model.safetensors').length, 1, String(downloads));
  await page.context().unroute('https://huggingface.co/**');
  await page.context().route('https://huggingface.co/**', (route) => route.abort());
  assert.equal(await page.evaluate(translation, model), both[0]);
  assert.deepEqual(errors.filter((error) => !/404|ERR_FAILED/.test(error)), []);
  await close();
});
