// The rooms of the package's code: which import which, and that no imports form a cycle.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = (name) => fileURLToPath(new URL(`../../${name}/`, import.meta.url));

/** The files of a folder with the files that they import, types included, and whether they start workers. */
function graphOf(root, extension) {
  const names = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(extension));
  return new Map(names.map((name) => {
    const text = readFileSync(join(root, name), 'utf8');
    const target = (specifier) => relative(root, join(root, dirname(name), specifier)).replace(/\.js$/, extension);
    const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*\.js)'/g)].map(([, specifier]) => target(specifier));
    return [name, { imports, starts: /new (NodeWorker|Worker|SharedWorker)\(/.test(text) }];
  }));
}

function cycleIn(graph) {
  const done = new Set();
  const path = [];
  const visit = (name) => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    path.push(name);
    for (const next of graph.get(name).imports) {
      const cycle = visit(next);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(name);
  };
  return [...graph.keys()].map(visit).find((cycle) => cycle);
}

const sources = graphOf(folder('bindings/js'), '.ts');

test('every import is of an existing file', () => {
  for (const [name, { imports }] of sources) for (const other of imports) assert.ok(sources.has(other), `${name}: ${other}`);
  assert.ok([...sources.values()].flatMap(({ imports }) => imports).length > 40);
});

test('no imports form a cycle, not even of types', () => {
  assert.deepEqual(cycleIn(sources), undefined);
  const closed = new Map([['a', { imports: ['b'] }], ['b', { imports: ['c'] }], ['c', { imports: ['b'] }]]);
  assert.deepEqual(cycleIn(closed), ['b', 'c', 'b']);
});

// api/ runs in the caller's thread, worker/ in the worker. The entries webpages/, pipeline/, convert/, standard/ and detect/
// stand beside the core: api/ knows of them only that it loads webpages/html.ts when it is asked for HTML. webpages/ and
// standard/ load detect/ when they are to detect languages with the installed model.
test('each room imports only from the rooms that it may know', () => {
  const allowed = {
    generated: ['generated'],
    shared: ['shared', 'generated'],
    api: ['api', 'shared', 'webpages'],
    worker: ['worker', 'shared', 'generated'],
    webpages: ['webpages', 'detect', 'shared'],
    pipeline: ['pipeline', 'api', 'shared'],
    convert: ['convert', 'api', 'shared'],
    standard: ['standard', 'convert', 'detect', 'api', 'shared'],
    detect: ['detect', 'shared'],
  };
  for (const [name, { imports }] of sources) {
    const [room] = name.split('/');
    for (const other of imports) {
      const is = allowed[room]?.includes(other.split('/')[0]) ?? true;
      assert.ok(is, `${name} imports ${other}`);
      if (room === 'api' && other.startsWith('webpages/')) assert.equal(other, 'webpages/html.ts', name);
    }
  }
});

// Next.js (Turbopack) follows `new Worker` inside a worker's own modules without end.
test("the worker's script is one file, and neither it nor its sources start a worker", () => {
  const built = graphOf(folder('dist'), '.js');
  assert.deepEqual(built.get('worker/worker.js'), { imports: [], starts: false });
  assert.ok([...built.values()].some(({ starts }) => starts));
  const reached = new Set();
  const visit = (name) => {
    if (reached.has(name)) return;
    reached.add(name);
    sources.get(name).imports.forEach(visit);
  };
  visit('worker/worker.ts');
  assert.ok(reached.size > 10);
  assert.deepEqual([...reached].filter((name) => sources.get(name).starts), []);
});
