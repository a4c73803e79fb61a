// A room of web/src imports only itself and rooms that stand before it in this list, and imports form no circle.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../web/src', import.meta.url));
const order = [
  'shared', 'shell', 'models', 'translate', 'train', 'picture', 'classify', 'lecture', 'laboratory', 'backwards', 'element', 'App.svelte', 'main.ts',
];

const files = readdirSync(root, { recursive: true }).filter((file) => /\.(ts|js|svelte)$/.test(file) && !file.endsWith('.d.ts'));
const fileOf = (path) => [path, `${path}.ts`, `${path}.svelte.ts`].find((name) => files.includes(name));
const roomOf = (file) => file.split('/')[0];

/** The files of web/src that a file imports, types and workers too. */
function importsOf(file) {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import|new URL)\s*\(?\s*'(\.[^']+)'/g)]
    .map(([, name]) => [name, posix.join(posix.dirname(file), name)])
    .filter(([name]) => !/\.(css|json)(\?url)?$/.test(name) && !name.endsWith('service-worker.js'))
    .map(([name, path]) => fileOf(path) ?? assert.fail(`${file} imports ${name}, which is not there`));
}

const graph = new Map(files.map((file) => [file, importsOf(file)]));

test('imports in web/src point up the list of folders', () => {
  assert.ok(files.length > 50);
  for (const [file, others] of graph) {
    assert.ok(order.includes(roomOf(file)), `${file}: ${roomOf(file)} is not in the list`);
    for (const other of others) {
      assert.ok(order.indexOf(roomOf(other)) <= order.indexOf(roomOf(file)), `${file} imports ${other}, which lies below it`);
    }
  }
});

test('web/src has no import cycle', () => {
  const done = new Set();
  const visit = (file, path) => {
    assert.ok(!path.includes(file), `a circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file)) return;
    for (const other of graph.get(file)) visit(other, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
});

test('components have at most 300 lines, other files 400', () => {
  for (const file of files) {
    // Styles have a line for each declaration.
    const lines = readFileSync(join(root, file), 'utf8').replace(/<style>[^]*/, '').split('\n').length - 1;
    assert.ok(lines <= (file.endsWith('.svelte') ? 300 : 400), `${file}: ${lines} lines`);
  }
});
