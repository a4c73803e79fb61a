// The names of all tests, read from the sources. `node tests/names.mjs [FOLDER]` prints those of the tests in FOLDER, one a
// line: TEST_CASE of Catch2 and test() of Node, with ${…} where a loop fills in a part of the name.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { main } from '../bindings/tools/shell.mjs';

const cppName = /^TEST_CASE\(\s*((?:"(?:\\.|[^"\\])*"\s*)+)/gm;
const nodeName = /^[ \t]*(?:(?:if|for) \(.*\) )?(?:void |await )?(?:t\.)?test(?:\.skip)?\(\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)/gm;
const plain = (literal) => literal.replace(/\\(['"`])/g, '$1');
// In C++ a string can be continued in the next line.
const joined = (literals) => plain([...literals.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, text]) => text).join(''));

/** The names in the files below a folder, sorted. */
export function namesIn(folder) {
  const names = new Set();
  for (const name of readdirSync(folder, { recursive: true })) {
    if (/node_modules|(^|\/)work\//.test(name) || !/(_test\.cpp|\.test\.mjs|_test\.mjs)$/.test(name)) continue;
    const text = readFileSync(join(folder, name), 'utf8');
    const found = name.endsWith('.cpp') ? [...text.matchAll(cppName)].map(([, literals]) => joined(literals))
      : [...text.matchAll(nodeName)].map(([, literal]) => plain(literal.slice(1, -1)));
    for (const one of found) names.add(one);
  }
  return [...names].sort();
}

await main(import.meta.url, ([folder = import.meta.dirname]) => console.log(namesIn(resolve(folder)).join('\n')));
