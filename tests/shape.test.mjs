// The shape of the sources.
// A file over 400 lines or a function over 60 has a comment `Length: REASON`, the function directly above it or inside.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import * as cpp from './shape/cpp.mjs';
import * as typescript from './shape/typescript.mjs';

const root = join(import.meta.dirname, '..');
const most = { complexity: 20, nesting: 3, inFunction: 60, inFile: 400, columns: 120, unnamed: 3, namingAnOption: 17 };

const isCode = (path) => /\.(cpp|h|ts|mjs|js|svelte)$/.test(path) && !/(^|\/)(node_modules|fixtures|work|public)\//.test(path);
const files = ['src', 'bindings', 'web', 'tests'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name))).filter(isCode)
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const isCpp = ({ path }) => /\.(cpp|h)$/.test(path);
const isTest = ({ path }) => path.startsWith('tests/');
const lines = (text) => text.split('\n').length - 1;
const hasReason = (text) => /(\/\/|\*|<!--) ?Length: \S/.test(text);

const own = files.filter((file) => !isTest(file));
const plain = new Map(own.filter(isCpp).map(({ path, text }) => [path, cpp.plain(text)]));
const functions = own.flatMap((file) => {
  const all = isCpp(file)
    ? cpp.functionsOf(plain.get(file.path)).map(({ body, ...rest }) => ({ ...rest, ...cpp.measure(body) }))
    : typescript.functionsOf(file.path, file.text);
  return all.map((one) => ({ ...one, ...file, place: `${file.path}:${one.first} ${one.name}` }));
});
const around = ({ text, first, last }) => text.split('\n').slice(Math.max(0, first - 4), last).join('\n');

const structs = cpp.largeStructs(own.filter(isCpp).map(({ text }) => text), most.unnamed);
const rules = {
  'cognitive complexity over 20': functions.filter(({ complexity }) => complexity > most.complexity)
    .map(({ place, complexity }) => `${place}: ${complexity}`),
  'nesting over 3': functions.filter(({ depth }) => depth > most.nesting).map(({ place, depth }) => `${place}: ${depth}`),
  'nested conditionals': functions.flatMap(({ place, nestedConditionals }) => Array(nestedConditionals).fill(place)),
  'comma operators': functions.flatMap(({ place, commas }) => Array(commas).fill(place)),
  'struct literals with more than three unnamed members': [...plain].flatMap(([path, text]) =>
    cpp.positionalLiterals(text, structs, most.unnamed).map((literal) => `${path}: ${literal}`)),
  'functions over 60 lines without a reason': functions
    .filter((one) => one.last - one.first >= most.inFunction && !hasReason(around(one)))
    .map(({ place, first, last }) => `${place}: ${last - first + 1}`),
  'files over 400 lines without a reason': files.filter(({ text }) => lines(text) > most.inFile && !hasReason(text))
    .map(({ path, text }) => `${path}: ${lines(text)}`),
  'lines over 120 columns': own.flatMap(({ path, text }) => text.split('\n')
    .flatMap((line, i) => ([...line].length > most.columns && !/['"`/]|<m/.test(line) ? [`${path}:${i + 1}`] : []))),
};

test('the functions are found', () => {
  assert.ok(functions.filter(isCpp).length > 800 && functions.length > 1600, `${functions.length}`);
  assert.ok(structs.size > 10, `${structs.size}`);
});

for (const [name, exceptions] of Object.entries(rules)) {
  test(`no ${name}`, () => assert.deepEqual(exceptions, []));
}

test('the measures are those of the definition', () => {
  const of = (body) => cpp.measure(`{${body}}`);
  assert.equal(of('if (a && b || c) { for (;;) { if (d) e(); } } else f();').complexity, 9);
  assert.equal(of('for (x : y) if (a) while (b) if (c) d();').depth, 4);
  assert.equal(of('f([&](int a) { if (a) b(); });').complexity, 2);
  assert.equal(of('x = a ? b : c ? d : e;').nestedConditionals, 1);
  assert.equal(of('f(a ? b : c, d ? e : f);').nestedConditionals, 0);
  const withCommas = ['a = b, c = d;', 'a[f(i)] = b, --c;', 'return a = b, a;', 'if (f(a), b) c();'];
  assert.deepEqual(withCommas.map((body) => of(body).commas), [1, 1, 1, 1]);
  assert.equal(of('int a = 1, b = f(c, d); for (; a < b; ++a, ++b) g({a, b});').commas, 0);
  const script = (body) => typescript.functionsOf('a.ts', `function f() {${body}}`)[0];
  assert.equal(script('if (a && b || c) { for (;;) { if (d) e(); } } else f();').complexity, 9 - 1 + 1);
  assert.equal(script('x = a ? b : c ? d : e; y = (f(), g());').nestedConditionals, 1);
  assert.equal(script('x = (f(), g());').commas, 1);
});

/** The first circle in a graph of files. */
function circleIn(graph) {
  const done = new Set();
  const path = [];
  const visit = (name) => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    path.push(name);
    for (const next of graph.get(name) ?? []) {
      const circle = visit(next);
      if (circle) return circle;
    }
    path.pop();
    done.add(name);
    return undefined;
  };
  return [...graph.keys()].map(visit).find(Boolean);
}

test('no files of src/ include each other in a circle, a header and its source taken as one', () => {
  const unit = (path) => path.replace(/\.(cpp|h)$/, '');
  const graph = new Map();
  for (const { path, text } of own.filter(isCpp).filter(({ path }) => path.startsWith('src/'))) {
    const included = [...text.matchAll(/^\s*#\s*include\s*"([^"]+)"/gm)].map(([, name]) => join(name.startsWith('wasmformer/') ? 'src/include' : 'src', name));
    graph.set(unit(path), [...graph.get(unit(path)) ?? [], ...included.map(unit).filter((name) => name !== unit(path))]);
  }
  assert.ok(graph.size > 80);
  assert.equal(circleIn(graph), undefined);
});

test('no scripts of the page import each other in a circle', () => {
  const scripts = own.filter(({ path }) => path.startsWith('web/src/') && /\.(ts|svelte)$/.test(path));
  const resolve = (path, name) => ['', '.ts', '/index.ts'].map((end) => join(dirname(path), name + end))
    .find((file) => /\.(ts|svelte)$/.test(file) && existsSync(join(root, file)));
  const graph = new Map(scripts.map(({ path, text }) => [path, [...text.matchAll(/^\s*(?:import|export) (?!type)[^'"]*['"](\.[^'"]+)['"]/gm)]
    .map(([, name]) => resolve(path, name)).filter(Boolean)]));
  assert.ok(graph.size > 80);
  assert.equal(circleIn(graph), undefined);
  assert.deepEqual(circleIn(new Map([['a', ['b']], ['b', ['c']], ['c', ['b']]])), ['b', 'c', 'b']);
});

// Outside the header that declares it and the folder that uses it.
test('few files name an option on its way from the caller to the search', () => {
  const named = own.filter(({ path, text }) => /^(src|bindings|web\/src)\//.test(path) && !/examples|generated|^src\/(tasks\/translate|include)\//.test(path) && /beam[-_]?size/i.test(text)).map(({ path }) => path);
  assert.ok(named.length > 1 && named.length <= most.namingAnOption, `${named.length}\n${named.join('\n')}`);
});
