// The HTML of the guides and of the package's description, each block as a page; headers and errors as the guides give them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { writeModelPackages } from '../../bindings/tools/model-packages.mjs';
import { blocks, errorsUnder, examples, guides, isMessage } from '../guides.mjs';
import { laptop, start } from './support.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-guides-'));
const entries = { '': 'index', '/attention': 'attention', '/webpages': 'webpages/index', '/pipeline': 'pipeline/index', '/standard': 'standard/index' };
const imports = Object.fromEntries(Object.entries(entries).map(([name, file]) => [`wasmformer${name}`, `./wasmformer/${file}.js`]));
imports['wasmformer-de-en'] = './packages/wasmformer-de-en/index.js';
const importMap = `<script type="importmap">${JSON.stringify({ imports })}</script>`;
const pages = ['bindings/README.md', ...guides].flatMap((document) => blocks(document, 'html').map((html, i) => ({ name: `${document}: HTML, part ${i + 1}`, html })));
const [live] = examples('bindings/js/webpages/document.ts');
const example = { name: 'the example of translateDocument', html: `<p>Ich habe einen Hund.</p>
  <script type="module">import { Translator } from 'wasmformer';
  import { translateDocument } from 'wasmformer/webpages';
  ${live.replace(/^page\.undo/m, 'document.body.append("undone"); page.undo')}</script>` };

let site, still;
before(async () => {
  symlinkSync(join(root, 'dist'), join(folder, 'wasmformer'));
  symlinkSync(join(root, 'web/public/models'), join(folder, 'models'));
  writeModelPackages(join(folder, 'packages'));
  site = await start(folder, {});
  writeFileSync(join(folder, 'index.html'), '<!doctype html><link rel="icon" href="data:,">');
  still = (await site.open()).page;
});
after(async () => {
  await site.stop();
  rmSync(folder, { recursive: true });
});

const write = (name, html) => writeFileSync(join(folder, name), `<!doctype html><link rel="icon" href="data:,">${html}`);

for (const [i, { name, html }] of [...pages, example].entries()) {
  test(name, async () => {
    const whole = html.includes('importmap') ? html : importMap + html;
    write(`${i}.html`, whole);
    write(`${i}-still.html`, whole.replaceAll(/<script[^]*?<\/script>/g, ''));
    await still.goto(`${site.address}${i}-still.html`);
    const before = await still.locator('body').innerText();
    const { page, errors } = await site.visit(laptop, `${i}.html`);
    const seen = html.includes('<wasmformer-attention')
      ? page.getByRole('application').locator('canvas').first().waitFor()
      : page.waitForFunction((before) => document.body.innerText !== before && /\b(my book|dog|Thanks?|bytes|undone)\b/.test(document.body.innerText), before);
    await seen.catch(async () => assert.fail(`${await page.locator('body').innerText()} is seen; ${errors.join('; ')}`));
    assert.deepEqual(errors, []);
  });
}

test('the headers of bindings/docs/deploying.md give threads, and a policy under which the package works', async () => {
  const lines = blocks('bindings/docs/deploying.md', 'http').join('').trim().split('\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/)));
  assert.deepEqual(Object.keys(headers), ['Cross-Origin-Opener-Policy', 'Cross-Origin-Embedder-Policy', 'Content-Security-Policy']);
  writeFileSync(join(folder, 'main.js'), `import { Translator } from './wasmformer/index.js';
    import './wasmformer/attention.js';
    const translator = await Translator.load('models/de-en.safetensors', { threads: 2 });
    const translation = await translator.translate('Wo ist mein Buch?', { attention: true });
    document.querySelector('wasmformer-attention').translation = translation;
    document.querySelector('p').textContent = translator.info.threads + ' threads: ' + translation.text;`);
  writeFileSync(join(folder, 'strict.html'), '<!doctype html><p></p><wasmformer-attention></wasmformer-attention><script type="module" src="main.js"></script>');
  const strict = await start(folder, headers);
  const { page, errors } = await strict.open(laptop, (page) => page.route('**/favicon.ico', (route) => route.fulfill({ body: '' })), 'strict.html');
  await page.getByText("2 threads: Where's my book?").waitFor().catch(() => assert.fail(errors.join('; ')));
  await page.getByRole('application').waitFor();
  assert.deepEqual(errors, []);
  await strict.stop();
});

test('bindings/docs/errors.md: messages under “In a page”', async () => {
  write('errors.html', importMap);
  const { page } = await site.visit(laptop, 'errors.html');
  const lines = errorsUnder('In a page');
  assert.equal(lines.length, 5);
  for (const { call, message } of lines) {
    const found = await page.evaluate(async (call) => {
      const { Translator } = await import('wasmformer');
      const run = new Function('Translator', 'model', `return ${call}`);
      return run(Translator, 'models/de-en.safetensors').then(() => 'no error', (error) => error.message);
    }, call);
    assert.ok(isMessage(found, message), `${call}: ${found}`);
  }
});

test('a server that sends .mjs as another type is named in the error', async () => {
  write('types.html', importMap);
  const type = 'application/octet-stream';
  const { page } = await site.open(laptop, (page) => page.route('**/*.mjs', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), 'content-type': type } });
  }), 'types.html');
  const { code, message } = await page.evaluate(async () => {
    const { Translator } = await import('wasmformer');
    return Translator.load('models/de-en.safetensors').catch(({ code, message }) => ({ code, message }));
  });
  assert.equal(code, 'build');
  assert.ok(isMessage(message, `[build] …/wasmformer.mjs could not be loaded: the server sends it as ${type}; …`), message);
});
