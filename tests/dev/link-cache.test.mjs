// Tests that links are kept in a store and used again, with a stand-in linker that counts its calls.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const launcher = new URL('../../bindings/tools/link-cache.mjs', import.meta.url).pathname;

/** Two clones, each with an object file, and a linker that counts its calls. */
function makeClones(t) {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-links-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const linker = join(folder, 'linker');
  writeFileSync(linker, `#!/bin/sh\necho call >> ${folder}/calls\ncat main.o > "$2.mjs" && echo wasm > "$2.wasm"\n`);
  chmodSync(linker, 0o755);
  const clones = ['a', 'b'].map((name) => join(folder, name));
  for (const clone of clones) {
    mkdirSync(clone);
    writeFileSync(join(clone, 'main.o'), 'object');
    writeFileSync(join(clone, 'pre.js'), '// before');
  }
  return {
    clones,
    store: join(folder, 'store'),
    calls: () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n').length,
    link(clone, ...args) {
      const all = [launcher, join(folder, 'store'), clone, linker, '-o', 'module', 'main.o', '--pre-js', join(clone, 'pre.js'), ...args];
      return spawnSync(process.execPath, all, { cwd: clone }).status;
    },
  };
}

test('the same link of another clone is taken from the store, with all its files', (t) => {
  const { clones, calls, link } = makeClones(t);
  for (const clone of clones) {
    assert.equal(link(clone), 0);
    assert.equal(readFileSync(join(clone, 'module.mjs'), 'utf8'), 'object');
    assert.equal(readFileSync(join(clone, 'module.wasm'), 'utf8'), 'wasm\n');
  }
  assert.equal(calls(), 1);
});

test('a change of an object, an option or the file of an option makes a new link', (t) => {
  const { clones: [clone], calls, link } = makeClones(t);
  link(clone);
  link(clone, '-O1');
  writeFileSync(join(clone, 'pre.js'), '// other');
  link(clone);
  writeFileSync(join(clone, 'main.o'), 'changed');
  link(clone);
  assert.equal(calls(), 4);
  assert.equal(readFileSync(join(clone, 'module.mjs'), 'utf8'), 'changed');
});

test('a link that cannot be kept is made all the same', (t) => {
  const { clones: [clone], link, store } = makeClones(t);
  writeFileSync(store, 'a file where the folder should be');
  assert.equal(link(clone), 0);
  assert.equal(readFileSync(join(clone, 'module.mjs'), 'utf8'), 'object');
});

test('a link that fails says so and is not kept', (t) => {
  const { clones: [clone], link } = makeClones(t);
  rmSync(join(clone, 'main.o'));
  assert.notEqual(link(clone), 0);
  writeFileSync(join(clone, 'main.o'), 'object');
  assert.equal(link(clone), 0);
  assert.deepEqual(readdirSync(clone).sort(), ['main.o', 'module.mjs', 'module.wasm', 'pre.js']);
});
