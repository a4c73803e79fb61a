// The packed tarball, installed into empty projects of every kind: all translate the same sentence to the same text.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { inflateSync } from 'node:zlib';
import { createPackageFromTarballData, checkPackage } from '@arethetypeswrong/core';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { build as esbuild } from 'esbuild';
import { chromium } from 'playwright-core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import { build, createServer } from 'vite';
import webpack from 'webpack';
import { writeDocs } from '../../bindings/tools/build.mjs';
import { headlessChromium } from '../../bindings/tools/setup.mjs';
import { isolation, serve } from '../../web/serve.mjs';

const root = join(import.meta.dirname, '../..');
const model = join(root, 'tests/fixtures/tiny-de-en.safetensors');
const sentence = 'Das Wetter ist heute schön, aber morgen soll es regnen.';
const run = (program, args, options) => execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], timeout: 120_000, ...options });
const expected = run(join(root, 'build/native/wasmformer'), ['translate', '--model', model], { input: sentence, stdio: 'pipe' }).trim();

const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
const project = join(folder, 'project');
let packed, tarball, browser;

before(async () => {
  [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: root }));
  tarball = join(folder, packed.filename);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true }');
  run('npm', ['install', '--no-audit', '--no-fund', '--offline', tarball], { cwd: project });
  browser = await chromium.launch({ executablePath: headlessChromium(), args: ['--no-sandbox', '--disable-gpu'] });
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const program = (load, base = '') => `${load}
const translator = await Translator.load(${base}'model.safetensors');
const { text, attention } = await translator.translate(${JSON.stringify(sentence)}, { attention: true });
const { build, threads } = translator.info;
globalThis.result = { text, build, threads, sums: attention.cross.map(0, 0).reduce((a, b) => a + b) / attention.cross.rows };
translator.dispose();
`;

/** A page of the project's files, served from `place`. */
async function inBrowser(address) {
  const page = await browser.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(address);
  const found = page.waitForFunction(() => globalThis.result, undefined, { timeout: 60_000 });
  const result = await found.then((handle) => handle.jsonValue())
    .catch((error) => assert.fail(`${error.message}; ${errors.join('; ')}`));
  await page.close();
  assert.equal(result.text, expected);
  assert.equal(result.build, 'relaxed');
  assert.ok(Math.abs(result.sums - 1) < 1e-5);
  assert.deepEqual(errors, []);
  return result;
}

async function served(place, headers) {
  const { server, address } = await serve(place, 0, headers);
  try {
    return await inBrowser(address);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** A folder in the project with a page that runs `script`, and the model beside it. */
function app(name, script, tag = '<script type="module" src="./main.js"></script>') {
  const place = join(project, name);
  mkdirSync(place);
  writeFileSync(join(place, 'index.html'), `<!doctype html><link rel="icon" href="data:,">${tag}`);
  writeFileSync(join(place, 'main.js'), script);
  mkdirSync(join(place, 'public'));
  copyFileSync(model, join(place, 'public/model.safetensors'));
  return place;
}

const fromPackage = "import { Translator } from 'wasmformer';";

test('Vite, built', async () => {
  const place = app('vite', program(fromPackage));
  await build({ root: place, logLevel: 'error', configFile: false });
  const { threads } = await served(join(place, 'dist'), isolation);
  assert.ok(threads > 1);
});

test("Vite's dev server, told to leave the package as it is", async () => {
  const place = app('vite-dev', program(fromPackage));
  const vite = await createServer({
    root: place, logLevel: 'error', configFile: false, optimizeDeps: { exclude: ['wasmformer'] }, server: { port: 0, watch: null },
  });
  try {
    await vite.listen();
    await inBrowser(vite.resolvedUrls.local[0]);
  } finally {
    await vite.close();
  }
});

test('webpack', async () => {
  const place = app('webpack', program(fromPackage));
  const output = join(place, 'dist');
  const stats = await new Promise((resolve, reject) => {
    const settings = { mode: 'production', context: place, entry: './main.js', output: { path: output, filename: 'main.js' } };
    webpack(settings, (error, result) => (error ? reject(error) : resolve(result)));
  });
  assert.deepEqual(stats.toJson({ errors: true, warnings: true }).errors, []);
  copyFileSync(join(place, 'index.html'), join(output, 'index.html'));
  copyFileSync(model, join(output, 'model.safetensors'));
  const { threads } = await served(output, isolation);
  assert.ok(threads > 1);
});

test('a plain page: modules straight from the folder of the package, without a bundler or special headers', async () => {
  const place = app('plain', program("import { Translator } from './wasmformer/index.js';"));
  cpSync(join(project, 'node_modules/wasmformer/dist'), join(place, 'wasmformer'), { recursive: true });
  copyFileSync(model, join(place, 'model.safetensors'));
  const { threads } = await served(place, {});
  assert.equal(threads, 1);
});

// These bundlers do not rewrite addresses of files.
const like = (bundler, plugins = []) => async (place, output) => {
  const bundle = await bundler({ input: join(place, 'main.js'), plugins });
  await bundle.write({ dir: output, format: 'es' });
};
const bundlers = {
  esbuild: (place, output, platform = 'browser') =>
    esbuild({ entryPoints: [join(place, 'main.js')], bundle: true, platform, format: 'esm', outdir: output, logLevel: 'error' }),
  Rollup: like(rollup, [nodeResolve()]),
  Rolldown: like(rolldown),
};
const copied = {
  'workerURL and a copy of the folder of the package': [{ workerURL: 'wasmformer/worker/worker.js' }, { '': 'wasmformer' }],
  'workerURL, wasmURL, and copies of the worker and the modules, under other names': [
    { workerURL: 'scripts/translating.js', wasmURL: 'modules/1' }, { 'worker/worker.js': 'scripts/translating.js', wasm: 'modules/1' }],
};
const copyParts = (copies, output) => Object.entries(copies).forEach(([from, to]) =>
  cpSync(join(project, 'node_modules/wasmformer/dist', from), join(output, to), { recursive: true }));
for (const [bundler, bundle] of Object.entries(bundlers)) for (const [name, [options, copies]] of Object.entries(copied)) {
  test(`${bundler}, with ${name}`, async () => {
    const script = program(fromPackage).replace(/load\(([^)]*)\)/, `load($1, ${JSON.stringify(options)})`);
    assert.ok(script.includes('workerURL'));
    const place = app(`${bundler}-${Object.keys(options).length}`, script);
    await bundle(place, join(place, 'dist'));
    copyFileSync(join(place, 'index.html'), join(place, 'dist/index.html'));
    copyFileSync(model, join(place, 'dist/model.safetensors'));
    copyParts(copies, join(place, 'dist'));
    const { threads } = await served(join(place, 'dist'), isolation);
    assert.ok(threads > 1);
  });
}

for (const [bundler, bundle] of Object.entries(bundlers)) {
  test(`${bundler}, for Node: workerURL is the address of the copy beside the bundle`, async () => {
    const address = "new URL('wasmformer/worker/worker.js', import.meta.url)";
    const script = program(fromPackage).replace(/load\(([^)]*)\)/, `load($1, { workerURL: ${address} })`);
    const place = app(`${bundler}-node`, `${script}console.log(JSON.stringify(globalThis.result));`);
    const output = join(folder, `${bundler}-node`); // far from node_modules
    await bundle(place, output, 'node');
    copyParts({ '': 'wasmformer' }, output);
    copyFileSync(model, join(output, 'model.safetensors'));
    writeFileSync(join(output, 'package.json'), '{ "type": "module" }');
    const { text, threads } = JSON.parse(run(process.execPath, ['main.js'], { cwd: output }));
    assert.equal(text, expected);
    assert.ok(threads > 1);
  });
}

test('a service worker is told that it cannot translate', async () => {
  const place = app('service-worker', '');
  cpSync(join(project, 'node_modules/wasmformer/dist'), join(place, 'wasmformer'), { recursive: true });
  writeFileSync(join(place, 'service-worker.js'), `import { Translator } from './wasmformer/index.js';
    import { Engine } from './wasmformer/worker/engine.js';
    const said = (call) => call.then(() => 'nothing', ({ message }) => message);
    onmessage = async ({ source }) => source.postMessage(await Promise.all([Translator.load('model.safetensors'), Engine.create()].map(said)));`);
  const { server, address } = await serve(place);
  const page = await browser.newPage();
  await page.goto(address);
  const said = await page.evaluate(async () => {
    await navigator.serviceWorker.register('service-worker.js', { type: 'module' });
    const { active } = await navigator.serviceWorker.ready;
    return new Promise((resolve) => {
      navigator.serviceWorker.onmessage = ({ data }) => resolve(data);
      navigator.serviceWorker.startMessages();
      active.postMessage('');
    });
  });
  assert.deepEqual(said, ['[load] this environment cannot start workers; the Engine of wasmformer/engine needs none',
    '[engine] this environment cannot import modules; give Engine.create() the options module and factory']);
  await page.close();
  server.close();
  server.closeAllConnections();
});

test("the worker's script does not start workers itself: Next.js's Turbopack would build it for ever", () => {
  assert.doesNotMatch(readFileSync(join(project, 'node_modules/wasmformer/dist/worker/worker.js'), 'utf8'), /new Worker\(/);
});

test('everything that a file of the package imports is in the package, and its types declare nothing internal', () => {
  const dist = join(project, 'node_modules/wasmformer/dist');
  let imports = 0;
  for (const file of readdirSync(dist, { recursive: true }).filter((name) => /\.(js|d\.ts)$/.test(name))) {
    const text = readFileSync(join(dist, file), 'utf8');
    if (file.endsWith('.d.ts')) assert.doesNotMatch(text, /liveObjects|createWithin/, file);
    for (const [, name] of text.matchAll(/(?:from|import\()\s*["'](\.[^"']+)["']/g)) {
      assert.ok(statSync(join(dist, dirname(file), name.replace(/\.js$/, file.endsWith('.d.ts') ? '.d.ts' : '.js'))).isFile(), `${file}: ${name}`);
      imports++;
    }
  }
  assert.ok(imports > 50);
});

// Also loads a Buffer twice at once, which must stay with the caller.
const written = (load) => `${program(load)}const bytes = (await import('node:fs')).readFileSync('model.safetensors');
const both = await Promise.all([bytes, bytes].map((given) => Translator.load(given)));
both.forEach((one) => one.dispose());
console.log(JSON.stringify({ ...globalThis.result, sizes: [bytes.length, ...both.map(({ info }) => info.bytes)] }));`;
const aborting = `${fromPackage}
const translator = await Translator.load('model.safetensors', { threads: 1 });
const timed = async (work) => {
  const begin = performance.now();
  const value = await work();
  return { value, ms: performance.now() - begin };
};
const texts = Array(250).fill(${JSON.stringify(sentence)});
await translator.translate(texts.slice(0, 5));
const whole = await timed(() => translator.translate(texts));
const reason = await translator.translate(texts, { signal: AbortSignal.timeout(100) }).catch(({ name }) => name);
const next = await timed(() => translator.translate(texts[0]));
console.log(JSON.stringify({ whole: whole.ms, reason, next: next.ms }));
translator.dispose();
`;
const runtimes = {
  'Node, ES module': [process.execPath, ['main.mjs'], 'main.mjs', written(fromPackage)],
  'Node, CommonJS': [process.execPath, ['main.cjs'], 'main.cjs',
    `(async () => { ${written("const { Translator } = await import('wasmformer');")} })();`],
  Deno: [join(root, 'node_modules/.bin/deno'), ['run', '-A', 'main.mjs'], 'main.mjs', written(fromPackage)],
  Bun: [join(root, 'node_modules/.bin/bun'), ['main.mjs'], 'main.mjs', written(fromPackage)],
};
for (const [name, [runtime, args, file, script]] of Object.entries(runtimes)) {
  test(name, () => {
    copyFileSync(model, join(project, 'model.safetensors'));
    writeFileSync(join(project, file), script);
    const { text, sums, sizes } = JSON.parse(run(runtime, args, { cwd: project }));
    assert.equal(text, expected);
    assert.deepEqual(sizes, Array(3).fill(statSync(model).size));
    assert.ok(Math.abs(sums - 1) < 1e-5);
  });

  if (!name.includes('CommonJS')) test(`${name}: an aborted batch ends, and the next call does not wait for it`, () => {
    copyFileSync(model, join(project, 'model.safetensors'));
    writeFileSync(join(project, file), aborting);
    const { whole, reason, next } = JSON.parse(run(runtime, args, { cwd: project }));
    assert.equal(reason, 'TimeoutError');
    assert.ok(next < whole / 4, `${next} ms after an abort, ${whole} ms for all`);
  });
}

test('the examples do what they say', async () => {
  const examples = join(project, 'examples');
  cpSync(join(root, 'bindings/examples'), examples, { recursive: true });
  const node = (name, ...args) => run(process.execPath, [join(examples, name, 'main.mjs'), ...args], { cwd: project });
  const translated = node('node', model, sentence).split('\n');
  assert.ok(translated[0].startsWith(expected));
  assert.equal(translated.at(-2).split(/ +/)[0], '</s>');
  const training = node('training', 'copy').trim().split('\n');
  assert.ok(Number(training.at(-1).match(/([\d.]+) % right/)[1]) > 80, training.at(-1));

  const pairs = join(project, 'pairs.tsv');
  writeFileSync(pairs, Array.from({ length: 60 }, (_, i) => `das ist ${i}\tthat is ${i}\n`).join(''));
  const small = readFileSync(join(examples, 'own-model/main.mjs'), 'utf8').replace("preset: 'multi30k-tiny'", "preset: 'tiny', tokenizer: { type: 'char' }");
  writeFileSync(join(examples, 'own-model/main.mjs'), small);
  const steps = () => Number(node('own-model', pairs, 'own.safetensors', '0.05').match(/step (\d+)(?![^]*step)/)[1]);
  const before = steps();
  assert.ok(before > 0 && steps() > before, 'the run goes on');

  const place = join(examples, 'vite');
  await build({ root: place, logLevel: 'error', configFile: false, publicDir: join(root, 'web/public/models') });
  const { server, address } = await serve(join(place, 'dist'));
  const page = await browser.newPage();
  await page.goto(address);
  await page.getByText('The weather is').waitFor();
  await page.getByLabel('German').fill('Danke!');
  await page.getByText('Thank').waitFor();
  await page.close();
  server.close();
  server.closeAllConnections();
});

test('every entry can be imported where there is no browser, and addresses of the worker and of a module lead to files', () => {
  const entries = Object.keys(JSON.parse(readFileSync(join(project, 'node_modules/wasmformer/package.json'))).exports)
    .filter((entry) => !/\.(json|safetensors)$|worker$|\*/.test(entry)).map((entry) => `wasmformer${entry.slice(1)}`);
  assert.ok(entries.includes('wasmformer/pipeline'));
  const files = ['worker', 'wasm/relaxed/wasmformer.wasm'].map((name) => `console.log(import.meta.resolve('wasmformer/${name}'));`);
  writeFileSync(join(project, 'entries.mjs'), [...entries.map((entry) => `await import('${entry}');`), ...files].join('\n'));
  for (const printed of run(process.execPath, ['entries.mjs'], { cwd: project }).trim().split('\n')) assert.ok(statSync(new URL(printed)).isFile());
});

test('API pages are written of every entry, and pages of the guides, without a warning; links lead somewhere, and examples run', async () => {
  const pages = join(folder, 'pages');
  writeDocs(pages);
  assert.deepEqual(readdirSync(join(pages, 'modules')).sort(),
    ['attention.html', 'convert.html', 'detect.html', 'index.html', 'options.html', 'pipeline.html', 'standard.html', 'webpages.html', 'worker_engine.html']);
  assert.match(readFileSync(join(pages, 'interfaces/index.TranslateOptions.html'), 'utf8'), /lengthPenalty/);
  for (const [name, words] of [['classes/index.Translator', 'Wo ist mein Buch'], ['classes/index.Trainer', 'reverse'], ['functions/webpages.translateDocument', 'undo'],
    ['classes/index.Classifier', 'play some jazz'], ['functions/pipeline.pipeline', 'translation_text'], ['variables/index.storedModels', '5e7']]) {
    const example = readFileSync(join(pages, `${name}.html`), 'utf8').split('id="example')[1];
    assert.ok(example?.includes(words), name);
  }
  const documents = readdirSync(join(pages, 'documents')).sort();
  assert.deepEqual(documents, ['Attention.html', 'Comparison.html', 'Deploying.html', 'Detecting_languages.html', 'Errors.html', 'Library_for_C++.html', 'Memory.html', 'Migrating.html', 'Program_options.html', 'Quick_start.html', 'Recipes.html', 'Standard.html', 'Teaching.html', 'Testing.html', 'The_package.html', 'The_program.html', 'Training.html']);
  for (const document of ['index.html', ...documents.map((name) => `documents/${name}`)]) {
    const html = readFileSync(join(pages, document), 'utf8');
    for (const [, path, anchor] of html.matchAll(/href="(?!https?:|data:)([^"#]*)#?([^"]*)"/g)) {
      const named = path === '' ? join(pages, document) : join(pages, dirname(document), path);
      const target = named.endsWith('/') ? join(named, 'index.html') : named; // as servers answer
      assert.ok(statSync(target).isFile(), `${document}: ${path}`);
      if (anchor && target.endsWith('.html')) assert.ok(readFileSync(target, 'utf8').includes(`id="${anchor}"`), `${document}: ${path}#${anchor}`);
    }
  }
  const index = readFileSync(join(pages, 'assets/search.js'), 'utf8').match(/"([^"]+)"/)[1];
  assert.match(inflateSync(Buffer.from(index, 'base64')).toString(), /Quick start/);
  const { server, address } = await serve(pages);
  const page = await browser.newPage();
  await page.goto(`${address}documents/Attention.html`);
  await page.getByRole('button', { name: 'Run' }).click();
  await page.frameLocator('iframe').getByRole('application').locator('canvas').first().waitFor();
  await page.close();
  server.close();
  server.closeAllConnections();
});

test('publint finds nothing', async () => {
  const { messages, pkg } = await publint({ pkgDir: join(project, 'node_modules/wasmformer'), pack: false });
  assert.deepEqual(messages.map((message) => formatMessage(message, pkg)), []);
});

// CommonJS can import() the package, but has no other way to it; resolution before Node 16 knows no entry but the first.
test('the types resolve as the code does', async () => {
  const { problems } = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  const code = problems.filter(({ entrypoint }) => entrypoint !== './tiny.safetensors');
  const real = code.filter(({ kind, resolutionKind, entrypoint }) => kind !== 'CJSResolvesToESM' && (resolutionKind !== 'node10' || entrypoint === '.'));
  assert.deepEqual(real, []);
});

test('the tarball is at most 3.6 MB, and holds nothing that nobody needs', () => {
  assert.ok(statSync(tarball).size <= 3.6e6, `${statSync(tarball).size} bytes`);
  const installed = readdirSync(join(project, 'node_modules/wasmformer')).sort();
  assert.deepEqual(installed, ['CHANGELOG.md', 'LICENSE', 'README.md', 'README.zh.md', 'dist', 'package.json']);
});

test('the package needs no source maps: only the scripts that README.md names are minified', () => {
  const dist = join(project, 'node_modules/wasmformer/dist');
  const scripts = readdirSync(dist, { recursive: true }).filter((name) => /\.(js|map)$/.test(name) && !name.startsWith('wasm'));
  const minified = scripts.filter((name) => /.{1000}|sourceMappingURL/.test(readFileSync(join(dist, name), 'utf8')));
  assert.deepEqual(minified.sort(), ['attention.js', 'webpages/html-tokenizer.js']);
  assert.deepEqual(scripts.filter((name) => name.endsWith('.map')), []);
});

test('the documents give the sizes of the package', () => {
  const text = (name) => readFileSync(join(root, 'bindings', name), 'utf8');
  assert.match(text('README.md'), /The tarball is at most 3\.6 MB\./);
  const [, unpacked] = text('docs/comparison.md').match(/^\| installed, without dependencies \| ([\d.]+) MB /m);
  assert.ok(Math.abs(packed.unpackedSize / 1e6 - unpacked) < 0.1, `${packed.unpackedSize} bytes`);
});

test('npm would publish it without a warning, but for that of a missing login', () => {
  const args = ['publish', '--dry-run', '--ignore-scripts', '--offline', '--json'];
  const { status, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', timeout: 120_000 });
  assert.equal(status, 0, stderr);
  const warnings = stderr.split('\n').filter((line) => line.startsWith('npm warn'));
  assert.deepEqual(warnings.filter((line) => !line.includes('requires you to be logged in')), []);
});

test('packing a clone that has not been built builds it first', () => {
  const clone = join(folder, 'clone');
  mkdirSync(join(clone, 'bindings/tools'), { recursive: true });
  for (const file of ['package.json', '.npmrc']) copyFileSync(join(root, file), join(clone, file));
  writeFileSync(join(clone, 'bindings/tools/build.mjs'), `import { mkdirSync, writeFileSync } from 'node:fs';
    mkdirSync('dist');
    writeFileSync('dist/built.js', process.argv.slice(2).join());`);
  run('npm', ['pack', '--silent'], { cwd: clone, stdio: 'pipe' });
  assert.equal(run('tar', ['xzOf', join(clone, packed.filename), 'package/dist/built.js']), 'package');
});
