// What npm would publish.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';

const root = new URL('../../', import.meta.url);
// Plain SIMD has the script of relaxed SIMD.
const modules = [
  ...['relaxed', 'simd', 'relaxed-threads', 'simd-threads'].map((build) =>
    [`${build}/wasmformer.wasm`, `${build.replace('simd', 'relaxed')}/wasmformer.mjs`]),
  ['extras/extras.wasm', 'extras/extras.mjs'],
];
const most = 400;

test('the package needs no other package at run time', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  assert.deepEqual({ ...dependencies, ...peerDependencies }, {});
});

test('the package holds its code, types, worker, program and all builds, and is at most 3.6 MB', () => {
  const pack = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: fileURLToPath(root),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files, size }] = JSON.parse(pack);
  assert.ok(size <= 3.6e6, `${size} bytes`);
  const paths = files.map(({ path }) => path);
  for (const file of ['index.js', 'index.d.ts', 'worker/worker.js', 'cli.js', 'wasm/cli/cli.cjs', 'wasm/cli/cli.wasm.br', ...modules.flatMap(([wasm, glue]) => [`wasm/${wasm}`, `wasm/${glue}`])]) {
    assert.ok(paths.includes(`dist/${file}`), file);
  }
  assert.deepEqual(paths.filter((path) => !/^(dist\/|README|LICENSE|CHANGELOG|package\.json)/.test(path)), []);
});

for (const [wasm, glue] of modules) {
  test(`${wasm} with its script is at most ${most} KB after brotli`, () => {
    // At level 11, as servers do ahead of time.
    const [module, script] = [wasm, glue].map((file) => brotliCompressSync(readFileSync(new URL(`dist/wasm/${file}`, root))).length);
    assert.ok(module <= 390_000, `${module} bytes`);
    assert.ok(module + script <= most * 1000, `${module} + ${script} bytes`);
  });
}

test('the version in the exports is that of package.json', async () => {
  const { Translator, version } = await import('../../dist/index.js');
  const translator = await Translator.load(new URL('dist/tiny.safetensors', root), { threads: 1 });
  assert.equal(translator.info.version, version);
  translator.dispose();
  assert.equal(version, JSON.parse(readFileSync(new URL('package.json', root), 'utf8')).version);
});

test('bundlers may not drop the scripts that are imported for what they do', () => {
  const { sideEffects, exports, bin } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  for (const script of [exports['./worker'].default, exports['./attention'].default, `./${bin.wasmformer}`]) assert.ok(sideEffects.includes(script), script);
});

test('the tiny model of the package has at most 60 KB, and reverses words', async () => {
  const tiny = new URL('dist/tiny.safetensors', root);
  assert.ok(readFileSync(tiny).length <= 60_000);
  const { Translator } = await import('../../dist/index.js');
  const translator = await Translator.load(tiny, { threads: 1 });
  const words = ['hello', 'abcdefgh', 'wasmformer', 'test', 'reverse'];
  const reversed = words.map((word) => [...word].reverse().join(''));
  assert.deepEqual((await translator.translate(words)).map(({ text }) => text), reversed);
  translator.dispose();
});
