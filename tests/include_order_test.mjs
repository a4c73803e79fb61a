// A folder of src/ includes only itself and folders above it in this list (the order of the README's map).
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// `include` has the library's headers, by the name of their folder inside.
const order = ['include', 'schema', 'tensor', 'gemm', 'autograd', 'ops', 'nn', 'text', 'model', 'bundle', 'tasks', 'train', 'exchange', 'library', 'cli'];

const folderOf = (name) => name.split('/')[0].replace('wasmformer', 'include');

function sources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : /\.(cpp|h)$/.test(path) ? [path] : [];
  });
}

// [file, included file] of every #include "…" in a folder.
const includes = (folder) => sources(folder).flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^\s*#\s*include\s*"([^"]+)"/gm)].map(([, name]) => [file, name]));

test('includes in src/ point up the list of folders', () => {
  const found = includes('src');
  assert.ok(found.length > 0);
  for (const [file, name] of found) {
    const [from, to] = [relative('src', file).split(sep)[0], folderOf(name)];
    assert.ok(order.includes(from), `${file}: src/${from} is not in the list of folders`);
    assert.ok(order.includes(to), `${file}: "${name}" does not name its folder below src/`);
    assert.ok(order.indexOf(to) <= order.indexOf(from), `${file} includes "${name}", which lies below it`);
  }
});

test('bindings/ includes only files of src/ and its own', () => {
  for (const [file, name] of includes('bindings')) {
    const isOwn = sources('bindings').includes(join('bindings', name));
    assert.ok(isOwn || order.includes(folderOf(name)), `${file} includes "${name}", which is not in src/`);
  }
});

test('web/src reaches the npm package by its name only', () => {
  const files = readdirSync(join(root, 'web/src'), { recursive: true }).filter((file) => /\.(ts|svelte)$/.test(file));
  assert.ok(files.length > 0);
  for (const file of files) {
    const text = readFileSync(join(root, 'web/src', file), 'utf8');
    for (const [, name] of text.matchAll(/(?:from|import)\s*\(?['"](\.[^'"]+)['"]/g)) {
      const target = relative('web/src', join('web/src', file, '..', name));
      assert.ok(!target.startsWith('..'), `web/src/${file} imports ${name}, which is outside web/src`);
    }
  }
});
