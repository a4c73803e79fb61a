// The packages of the models, packed: installed into a project beside the package, they are found by name in each runtime;
// a page loads them from a server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { Translator } from '../../dist/index.js';
import { bundledModel as deEn, inBrowser, model as otherModel, packedModel, project, run, sentence } from '../environments/support.mjs';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json')));
const program = `import { readFileSync } from 'node:fs';
import { Translator } from 'wasmformer';
import model from 'wasmformer-de-en';
const translator = await Translator.load('de-en');
const { text } = await translator.translate(${JSON.stringify(sentence)});
translator.dispose();
const missing = await Translator.load('en-de').catch(({ code, details }) => [code, details.name]);
console.log(JSON.stringify({ text, missing, bytes: readFileSync(model).length }));
`;

let place, installed, text;
before(async () => {
  place = project('by-name', { 'main.mjs': program, 'index.html': '<!doctype html><link rel="icon" href="data:,">' }, [packedModel('de-en')]);
  installed = join(place, 'node_modules/wasmformer-de-en');
  const translator = await Translator.load(deEn);
  ({ text } = await translator.translate(sentence));
  translator.dispose();
});

test('a package has the model, its card and its license', () => {
  assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'card.json', 'de-en.safetensors', 'index.d.ts', 'index.js', 'package.json']);
  assert.ok(readFileSync(join(installed, 'de-en.safetensors')).equals(readFileSync(deEn)));
  assert.match(readFileSync(join(installed, 'LICENSE'), 'utf8'), /CC-BY-SA-4\.0[^]*Tatoeba/);
  assert.match(JSON.parse(readFileSync(join(installed, 'card.json'))).bleu, /^\d/);
});

test('the programs of its README run: by name, and by the import that bundlers read', () => {
  const readme = readFileSync(join(installed, 'README.md'), 'utf8');
  const programs = [...readme.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code]) => code);
  assert.deepEqual(programs.map((code) => code.includes("from 'wasmformer-de-en'")), [false, true]);
  for (const [i, code] of programs.entries()) {
    writeFileSync(join(place, `readme-${i}.mjs`), `${code}translator.dispose();\n`);
    run(process.execPath, [`readme-${i}.mjs`], { cwd: place });
  }
});

test('npm would publish the packages, all of the same version, without a warning but for that of a missing login', () => {
  const files = readdirSync(join(root, 'build/model-packages')).filter((name) => name.endsWith('.tgz')).sort();
  assert.deepEqual(files, ['de-en', 'detect', 'en-de', 'en-zh', 'fr-en', 'zh-en'].map((name) => `wasmformer-${name}-${version}.tgz`));
  for (const name of ['de-en', 'detect']) {
    const { status, stderr } = spawnSync('npm', ['publish', packedModel(name), '--dry-run', '--ignore-scripts', '--offline', '--json'], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const warnings = stderr.split('\n').filter((line) => line.startsWith('npm warn'));
    assert.deepEqual(warnings.filter((line) => !line.includes('requires you to be logged in')), []);
  }
});

const bin = (name) => join(root, 'node_modules/.bin', name);
const runtimes = { Node: [process.execPath], Deno: [bin('deno'), 'run', '-A'], Bun: [bin('bun')] };
for (const [name, [runtime, ...args]] of Object.entries(runtimes)) {
  test(`${name} finds an installed model by its name, and says which one is missing`, () => {
    const found = JSON.parse(run(runtime, [...args, 'main.mjs'], { cwd: place }));
    assert.deepEqual(found, { text, missing: ['not-installed', 'wasmformer-en-de'], bytes: statSync(deEn).size });
  });
}

/** Result of a page that loads a model by name and translates with it. */
const loadIn = (page, name, options) => page.evaluate(async ([name, options, sentence]) => {
  const { Translator } = await import('./wasmformer/index.js');
  try {
    const translator = await Translator.load(name, { cache: false, ...options });
    const { text } = await translator.translate(sentence);
    translator.dispose();
    return { text };
  } catch ({ code, message }) {
    return { code, message };
  }
}, [name, options, sentence]);

/** Begins a run from the model of this name, and returns the code of the error. */
const trainIn = (page) => page.evaluate(async () => {
  const { Trainer } = await import('./wasmformer/index.js');
  const pairs = [['ein Hund', 'a dog'], ['eine Katze', 'a cat']];
  return Trainer.create({ pairs, from: 'de-en', threads: 1 }).then(() => 'none', ({ code }) => code);
});

test('a page loads models by name from modelsURL, and by default from a CDN; each file must be that of the build', async () => {
  cpSync(join(place, 'node_modules/wasmformer/dist'), join(place, 'wasmformer'), { recursive: true });
  for (const [name, file] of Object.entries({ models: deEn, others: otherModel })) {
    mkdirSync(join(place, name));
    copyFileSync(file, join(place, name, 'de-en.safetensors'));
  }
  await inBrowser('models by name', place, async (page) => {
    assert.deepEqual(await loadIn(page, 'de-en', { modelsURL: 'models' }), { text });
    assert.equal((await loadIn(page, 'de-en', { modelsURL: 'others' })).code, 'wrong-digest');

    // Stands in for the CDN: first it has the packed files, then another one, then none.
    const folder = `https://cdn.jsdelivr.net/npm/wasmformer-de-en@${version}/`;
    let answer = (file) => ({ path: join(installed, file) });
    const headers = { 'Access-Control-Allow-Origin': '*' };
    await page.route(`${folder}**`, (route) => route.fulfill({ headers, ...answer(route.request().url().slice(folder.length)) }));
    assert.deepEqual(await loadIn(page, 'de-en'), { text });
    answer = () => ({ path: otherModel });
    assert.equal((await loadIn(page, 'de-en')).code, 'wrong-digest');
    assert.equal(await trainIn(page), 'wrong-digest');
    answer = () => ({ status: 404 });
    const { code, message } = await loadIn(page, 'de-en');
    assert.equal(code, 'not-found');
    const words = [`${folder}de-en.safetensors answered 404`, 'node bindings/tools/build.mjs model-packages', 'modelsURL'];
    for (const part of words) assert.ok(message.includes(part), message);
    assert.equal((await loadIn(page, 'xx-yy')).code, 'unknown-model');
  });
});
