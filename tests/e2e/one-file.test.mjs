// The one-file build, opened from the disk: it translates and trains as the package does in Node.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Trainer, Translator } from '../../dist/index.js';
import { accessible, laptop, screenshot, smallPhone, start } from './support.mjs';
import { width } from './views.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const model = join(root, 'tests/fixtures/tiny-de-en.safetensors');
const sentences = ['Ich habe einen Hund.', 'Sie liest jeden Abend ein Buch, wenn die Kinder schlafen.'];

let site, folder;
before(async () => {
  site = await start(root);
  folder = mkdtempSync(join(tmpdir(), 'wasmformer-one-file-'));
  execFileSync(process.execPath, [join(root, 'bindings/tools/one-file.mjs'), 'page', model, join(folder, 'page.html')]);
  const script = pathToFileURL(join(root, 'dist/standalone.js'));
  writeFileSync(join(folder, 'script.html'), `<!doctype html><title>Script</title><script src="${script}"></script>`);
});
after(async () => {
  await site.stop();
  rmSync(folder, { recursive: true });
});

/** Opens a file of the folder from the disk; it asks for nothing else but the script, and logs no error. */
async function withFile(name, options, use, prepare = () => {}) {
  const asked = [];
  const watch = async (page) => {
    page.on('request', (request) => asked.push(request.url()));
    await prepare(page);
  };
  const { page, errors, close } = await site.open(options, watch, String(pathToFileURL(join(folder, name))));
  try {
    await use(page);
    assert.deepEqual(asked.filter((url) => !/^(blob|data|file):/.test(url)), [], 'nothing is fetched');
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
}

const steps = 4;
/** In the page too, so it takes all that it needs. */
async function losses(Trainer, steps) {
  const trainer = await Trainer.create({ task: { name: 'reverse', pairs: 500 }, preset: 'toy', seed: 7, threads: 1 });
  try {
    const found = [];
    for await (const { loss } of trainer.run({ steps, reportEvery: 1 })) found.push(loss);
    return found;
  } finally {
    trainer.dispose();
  }
}

test('the file translates typed text as the package does, and shows its attention', async () => {
  const translator = await Translator.load(readFileSync(model));
  const wanted = (await translator.translate(sentences)).map(({ text }) => text);
  translator.dispose();
  await withFile('page.html', laptop, async (page) => {
    for (const [i, sentence] of sentences.entries()) {
      await page.getByRole('textbox').fill(sentence);
      await page.getByText(wanted[i], { exact: true }).waitFor();
    }
    await page.getByRole('radio', { name: 'Layer 1, head 2', exact: true }).click();
    assert.equal(await page.locator('wasmformer-attention').evaluate(({ head }) => head), 1);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await accessible(page, `one file, ${colorScheme}`);
      await screenshot(page, `one-file-${colorScheme}`);
    }
  });
});

test('a visitor who is already in the field when the model is ready finds it empty', () =>
  withFile(
    'page.html',
    laptop,
    async (page) => {
      await page.getByRole('status').filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
      assert.equal(await page.getByRole('textbox').inputValue(), '');
      await page.keyboard.type(sentences[0]);
      await page.getByText('I have a dog.', { exact: true }).waitFor();
    },
    (page) => page.addInitScript(() => addEventListener('DOMContentLoaded', () => document.querySelector('textarea').focus())),
  ));

test('the file fits a small phone', () =>
  withFile('page.html', smallPhone, async (page) => {
    await page.getByRole('textbox').fill(sentences[1]);
    await page.getByRole('application').waitFor();
    assert.equal(await width(page), smallPhone.viewport.width);
    await screenshot(page, 'one-file-small-phone');
  }));

test('the script alone, from disk, trains to the same losses as the package and loads a model', async () => {
  const wanted = await losses(Trainer, steps);
  await withFile('script.html', laptop, async (page) => {
    const found = await page.evaluate(`(${losses})(wasmformer.Trainer, ${steps})`);
    assert.equal(found.length, steps);
    found.forEach((loss, i) => assert.ok(Math.abs(loss - wanted[i]) < 1e-3, `step ${i + 1}: ${loss}, in Node ${wanted[i]}`));
    const { build, threads } = await page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
      const translator = await wasmformer.Translator.load(new Blob([bytes]));
      translator.dispose();
      return translator.info;
    }, readFileSync(model).toString('base64'));
    assert.deepEqual([build, threads], ['simd', 1]);
    assert.deepEqual(await page.evaluate(() => wasmformer.storedModels.list()), []);
    assert.ok(await page.evaluate(() => document.createElement('wasmformer-attention') instanceof wasmformer.AttentionElement));
  });
});

test('features that the one-file build lacks are refused with a message', () =>
  withFile('script.html', laptop, async (page) => {
    const message = (call) => page.evaluate(`${call}.then(() => 'nothing', ({ message }) => message)`);
    assert.match(await message("wasmformer.Translator.load('m', { threads: 2 })"), /threads is 2, but there are no threads in the one-file build/);
    const pairs = JSON.stringify(Array.from({ length: 60 }, (_, i) => [`ein Haus ${i}`, `a house ${i}`]));
    assert.match(
      await message(`wasmformer.Trainer.create({ pairs: ${pairs}, tokenizer: { type: 'bpe', vocabSize: 40 } })`),
      /the one-file build cannot train a tokenizer; choose the tokenizer 'char' or 'word', or give its files/,
    );
  }));
