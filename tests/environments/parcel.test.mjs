// Parcel, which takes addresses of scripts for scripts to bundle: the files are copied, as for esbuild.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { addModel, expectedText, inBrowser, project, run, sentence } from './support.mjs';

test('Parcel, with workerURL and a copy of the folder of the package', async () => {
  const place = project('parcel', {
    'index.html': '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="main.js"></script>',
    'main.js': `import { Translator } from 'wasmformer';
const files = { workerURL: 'wasmformer/worker/worker.js', wasmURL: 'wasmformer/wasm' };
const work = async () => (await (await Translator.load('model.safetensors', files)).translate(${JSON.stringify(sentence)})).text;
work().then((text) => (globalThis.result = text), (error) => (globalThis.result = String(error)));
`,
  }, ['parcel']);
  run(join(place, 'node_modules/.bin/parcel'), ['build', 'index.html', '--no-cache'], { cwd: place, env: { ...process.env, PARCEL_WORKER_BACKEND: 'process' } });
  const built = join(place, 'dist');
  cpSync(join(place, 'node_modules/wasmformer/dist'), join(built, 'wasmformer'), { recursive: true });
  addModel(built);
  const { result } = await inBrowser('Parcel', built, async (page) =>
    (await page.waitForFunction(() => globalThis.result, undefined, { timeout: 60_000 })).jsonValue());
  assert.equal(result, await expectedText());
});
