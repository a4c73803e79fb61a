// The complexity budget of src/README.md: lines in total, per file and per function, and files that name one option.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const mostLines = { 'src and bindings': 27_080, web: 12_030 };
const mostInFile = 400;
const mostInFunction = 60;
const mostNamingBeamSize = 21;

const isCode = (name) => /\.(cpp|h|ts|mjs|js|cmake|svelte|css|html|py)$/.test(name);
const isOwn = (path) => !/(^|\/)(node_modules|fixtures|work|public)\//.test(path);
/** The text of each file of code, by its path. */
function filesOf(...folders) {
  const paths = folders.flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)));
  return new Map(paths.filter((path) => isCode(path) && isOwn(path)).map((path) => [path, readFileSync(join(root, path), 'utf8')]));
}
const lines = (text) => text.split('\n').length - 1;
const total = (files) => [...files.values()].reduce((sum, text) => sum + lines(text), 0);

/** Without comments and the contents of strings, line by line as before. */
const plain = (cpp) => cpp
  .replace(/R"\w*\([^]*?\)\w*"|\/\/.*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'/g, (text) => text.replace(/[^\n]/g, ' '));

/** [name, lines] of each outermost function: a block behind a parameter list. */
function functionsOf(cpp) {
  const text = plain(cpp);
  const found = [];
  const open = [];
  let [begin, isInside] = [0, false];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '{') {
      const head = text.slice(begin, i).trim().replace(/^(\s*#.*\n)+/, '');
      const isFunction = !isInside && /\)[^()=]*$|\)\s*:[^]*$/.test(head)
        && !/^(namespace|struct|class|enum|union|extern|EMSCRIPTEN_BINDINGS)\b/.test(head);
      open.push({ isFunction, first: lines(text.slice(0, i)) - lines(head), name: head.match(/[\w:~]+(?=\s*\()/)?.[0] });
      isInside ||= isFunction;
    } else if (text[i] === '}') {
      const { isFunction, first, name } = open.pop();
      if (isFunction) {
        found.push([name, lines(text.slice(0, i)) - first + 1]);
        isInside = false;
      }
    }
    if (!isInside && '{};'.includes(text[i])) begin = i + 1;
  }
  assert.equal(open.length, 0, 'as many braces open as close');
  return found;
}

test('the code stays within its budget of lines', () => {
  for (const [name, most] of Object.entries(mostLines)) {
    const found = total(filesOf(...name.split(' and ')));
    assert.ok(found > most / 2 && found <= most, `${name} have ${found} lines; the budget is ${most}`);
  }
});

test(`no file has more than ${mostInFile} lines`, () => {
  const long = [...filesOf('src', 'bindings', 'web', 'tests')].filter(([, text]) => lines(text) > mostInFile);
  assert.deepEqual(long.map(([path, text]) => `${path}: ${lines(text)}`), []);
});

test(`no C++ function has more than ${mostInFunction} lines`, () => {
  const all = [...filesOf('src', 'bindings')].filter(([path]) => /\.(cpp|h)$/.test(path))
    .flatMap(([path, text]) => functionsOf(text).map(([name, size]) => ({ path, name, size })));
  assert.ok(all.length > 800, `${all.length} functions are found`);
  assert.deepEqual(all.filter(({ size }) => size > mostInFunction), []);
});

test('few files name an option on its way from the caller to the search', () => {
  const files = [...filesOf('src', 'bindings', 'web/src')].filter(([path, text]) => !path.includes('examples') && /beam[-_]?size/i.test(text));
  assert.ok(files.length > 1 && files.length <= mostNamingBeamSize, files.map(([path]) => path).join('\n'));
});
