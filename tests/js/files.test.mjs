// Copies of the package's worker and modules, in other places and under other names.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Trainer, Translator, version } from '../../dist/index.js';
import { exportMarian, importMarian } from '../../dist/convert/index.js';
import { pipeline } from '../../dist/pipeline/index.js';
import { fixturePath, sentences } from './support.mjs';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const at = (name) => pathToFileURL(join(folder, name));
const copies = { workerURL: at('scripts/translating.mjs'), wasmURL: at('modules/1').href };
let expected;

before(async () => {
  cpSync(join(dist, 'worker/worker.js'), join(folder, 'scripts/translating.mjs'));
  cpSync(join(dist, 'wasm'), join(folder, 'modules/1'), { recursive: true, filter: (path) => !path.endsWith('/cli') });
  const translator = await Translator.load(fixturePath);
  expected = (await translator.translate(sentences[0])).text;
  translator.dispose();
});
after(() => rmSync(folder, { recursive: true, force: true }));

for (const threads of [1, 2]) {
  test(`the worker script and the modules may be elsewhere, with threads: ${threads}`, async () => {
    const translator = await Translator.load(fixturePath, { ...copies, threads });
    assert.equal((await translator.translate(sentences[0])).text, expected);
    translator.dispose();
  });
}

test('everything that starts a worker takes workerURL and wasmURL', async () => {
  const trainer = await Trainer.create({ task: 'copy', preset: 'tiny', ...copies });
  for await (const { step } of trainer.run({ steps: 1 })) assert.equal(step, 1);
  trainer.dispose();
  const translate = await pipeline('translation', fixturePath, copies);
  assert.equal((await translate(sentences[0]))[0].translation_text, expected);
  await translate.dispose();
  const files = await exportMarian(fixturePath, copies); // by the module for conversions
  assert.ok((await importMarian(files, copies)).size > 0);
});

test('the modules alone may be elsewhere', async () => {
  const translator = await Translator.load(fixturePath, { wasmURL: `${copies.wasmURL}/` });
  assert.equal((await translator.translate(sentences[0])).text, expected);
  await assert.rejects(Translator.load(fixturePath, { shareWith: translator, wasmURL: copies.wasmURL }),
    { message: '[load] wasmURL is given, but shareWith already has a worker' });
  translator.dispose();
});

test('workers that start later use the module that was compiled already', async () => {
  cpSync(join(folder, 'modules/1'), join(folder, 'once'), { recursive: true });
  const wasmURL = at('once');
  const use = async () => {
    for (const threads of [1, 2]) {
      const translator = await Translator.load(fixturePath, { wasmURL, threads });
      assert.equal((await translator.translate(sentences[0])).text, expected);
      translator.dispose();
    }
    assert.ok((await exportMarian(fixturePath, { wasmURL }))['config.json']);
  };
  await use();
  const modules = readdirSync(join(folder, 'once'), { recursive: true }).filter((name) => name.endsWith('.wasm'));
  assert.ok(modules.length >= 5);
  for (const name of modules) rmSync(join(folder, 'once', name));
  await use();
});

test('errors name the missing file or the invalid address', async () => {
  cpSync(join(folder, 'modules/1'), join(folder, 'part'), { recursive: true, filter: (path) => !path.endsWith('.mjs') });
  await assert.rejects(Translator.load(fixturePath, { wasmURL: at('part'), threads: 1 }),
    { message: `[build] ${at('part/relaxed/wasmformer.mjs')} could not be loaded; set wasmURL to the address of the package's wasm folder` });
  await assert.rejects(Translator.load(fixturePath, { wasmURL: '' }), { message: "[load] wasmURL must be a URL, not ''" });
  await assert.rejects(Translator.load(fixturePath, { wasmURL: 'wasm' }), { message: "[load] wasmURL must be a URL, not 'wasm'" });
  assert.throws(() => void exportMarian(fixturePath, { wasmURL: 5 }), { message: '[export] wasmURL must be a URL, not 5' });
});

/** The address of a worker's script with this text. */
function script(name, text) {
  writeFileSync(join(folder, `scripts/${name}`), text);
  return at(`scripts/${name}`);
}
const loadWith = (workerURL) => Translator.load(fixturePath, { ...copies, workerURL }).then(() => 'nothing', (error) => error);

test('a worker of another version is refused', async () => {
  const text = readFileSync(join(dist, 'worker/worker.js'), 'utf8');
  const own = `const version = "${version}";`;
  assert.ok(text.includes(own));
  const error = await loadWith(script('older.mjs', text.replace(own, 'const version = "0.0.1";')));
  assert.deepEqual([error.code, error.details], ['worker-version', { worker: '0.0.1', package: version }]);
});

test('a script that runs but does not answer is named', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const url = script('silent.mjs', "import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => {});");
  const loading = loadWith(url);
  await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.tick(19_000);
  const early = await Promise.race([loading, new Promise((resolve) => void setImmediate(() => resolve('waiting')))]);
  assert.equal(early, 'waiting');
  t.mock.timers.tick(2000);
  const error = await loading;
  assert.deepEqual([error.code, error.details], ['worker-silent', { url: url.href, seconds: 20 }]);
});

test('in Node, a script that is missing or read as CommonJS is named, with what to do about a bundler', async () => {
  const missing = await loadWith(at('none/worker.js'));
  assert.deepEqual([missing.code, missing.details.url], ['worker-script', at('none/worker.js').href]);
  assert.match(missing.message, /serverExternalPackages/);
  const url = script('worker.cjs', readFileSync(join(dist, 'worker/worker.js'), 'utf8'));
  const common = await loadWith(url);
  assert.deepEqual([common.code, common.details.url], ['worker-script', url.href]);
});
