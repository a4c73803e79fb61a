// `npx wasmformer` where Node itself fails: one sentence and an exit code, never a stack or the source of the module.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'wasmformer-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the package with the program alone, which `damage` changes. */
function copyOf(name, damage = () => {}) {
  const dist = join(folder, name, 'dist');
  mkdirSync(join(dist, 'wasm'), { recursive: true });
  copyFileSync(join(root, 'package.json'), join(folder, name, 'package.json'));
  for (const part of ['cli.js', 'models.js', 'convert', 'shared', 'generated', 'wasm/cli']) cpSync(join(root, 'dist', part), join(dist, part), { recursive: true });
  damage(join(dist, 'wasm/cli'));
  return join(dist, 'cli.js');
}

function fails(pattern, command, args, options) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', ...options });
  assert.match(stderr, pattern);
  assert.equal(stderr.split('\n').length, 2, stderr);
  assert.match(stderr, /^wasmformer: /);
  assert.equal(stdout, '');
  assert.equal(status, 1);
}

test('files of the package that are missing or damaged', () => {
  const version = (cli) => [cli, '--version'];
  const again = /incomplete or damaged: .*; install wasmformer again$/m;
  assert.equal(spawnSync(process.execPath, version(copyOf('whole')), { encoding: 'utf8' }).status, 0);
  fails(again, process.execPath, version(copyOf('missing', (wasm) => rmSync(wasm, { recursive: true }))));
  fails(/cli\.wasm\.br.*; install wasmformer again$/m, process.execPath, version(copyOf('without-module', (wasm) => rmSync(join(wasm, 'cli.wasm.br')))));
  fails(again, process.execPath, version(copyOf('cut', (wasm) => writeFileSync(join(wasm, 'cli.wasm.br'), readFileSync(join(wasm, 'cli.wasm.br')).subarray(0, 1000)))));
  const other = brotliCompressSync(Buffer.from('no module'));
  fails(/^wasmformer: .*magic word/, process.execPath, version(copyOf('other', (wasm) => writeFileSync(join(wasm, 'cli.wasm.br'), other))));
});

test('too little memory for the addresses of WebAssembly', () => {
  fails(/not enough memory: .*ulimit -v/, 'bash', ['-c', 'ulimit -v 3000000; exec "$@"', 'bash', process.execPath, join(root, 'dist/cli.js'), '--version']);
});

test('a Node that is too old, or without WebAssembly', () => {
  const old = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "18.19.0" })';
  fails(/Node 20 or newer is needed; this is 18\.19\.0$/m, process.execPath, ['--import', old, join(root, 'dist/cli.js'), '--version']);
  fails(/without WebAssembly; start it without --jitless$/m, process.execPath, ['--no-warnings', '--no-expose-wasm', join(root, 'dist/cli.js'), '--version']);
});

test('a module that stops by a trap, in its own thread', () => {
  // The thread of main() ends as a trap in the module would end it.
  const cli = copyOf('trap', (wasm) => {
    const file = join(wasm, 'cli.cjs');
    const trap = 'if (!require("node:worker_threads").isMainThread) throw new WebAssembly.RuntimeError("unreachable");\n';
    writeFileSync(file, trap + readFileSync(file, 'utf8'));
  });
  fails(/the program has stopped: unreachable; .*please report it$/m, process.execPath, [cli, '--version']);
});
