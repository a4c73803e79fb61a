// Pages that are written from the product itself: the program's help and the public headers of C++. They join the guides
// in `npm run docs`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { output, root, which } from './shell.mjs';

const folder = join(root, 'build/reference');
const headers = 'src/include/wasmformer';

const helpOf = (...args) => output(process.execPath, [join(root, 'dist/cli.js'), ...args, '--help']);
const block = (language, text) => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`;
const page = (title, parts) => `---\ntitle: ${title}\n---\n\n${parts.join('\n')}`;

/** What `wasmformer COMMAND --help` prints, for each command. */
function programPage() {
  const main = helpOf();
  const list = main.split('Subcommands:')[1].split('\n\n')[0];
  const commands = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
  const parts = commands.map((name) => `## ${name}\n\n${block('text', helpOf(name))}`);
  return page('Program options', [block('text', main), ...parts]);
}

/** How a project uses the library, and where the pages of the headers are. */
function libraryPage() {
  const example = (name) => readFileSync(join(root, 'bindings/examples/cpp', name), 'utf8');
  return page('Library for C++', [
    'The [pages of the headers](../cpp/files.html) say what each class and function does. Two complete programs and their `CMakeLists.txt`:\n',
    block('cmake', example('CMakeLists.txt')),
    block('cpp', example('main.cpp')),
    block('cpp', example('train.cpp')),
  ]);
}

/** Writes the pages that TypeDoc adds to the guides. */
export function writeReferencePages() {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'options.md'), programPage());
  writeFileSync(join(folder, 'cpp.md'), libraryPage());
}

/** Settings of Doxygen. Private parts and what templates of the options need are left out. */
const settings = (target) => ({
  PROJECT_NAME: 'wasmformer',
  INPUT: headers,
  FILE_PATTERNS: '*.h',
  INPUT_FILTER: '"sed -f bindings/tools/doxygen.sed"',
  OUTPUT_DIRECTORY: target,
  HTML_OUTPUT: '.',
  GENERATE_LATEX: 'NO',
  EXTRACT_ALL: 'YES',
  HIDE_UNDOC_MEMBERS: 'NO',
  JAVADOC_AUTOBRIEF: 'YES',
  MACRO_EXPANSION: 'YES',
  EXPAND_ONLY_PREDEF: 'YES',
  PREDEFINED: 'WASMFORMER_API= WASMFORMER_ENUM_NAMES(...)=',
  EXCLUDE_SYMBOLS: 'visit WASMFORMER_*',
  STRIP_FROM_PATH: 'src/include',
  HAVE_DOT: 'NO', // no diagrams
  HTML_TIMESTAMP: 'NO',
  QUIET: 'YES',
  WARN_AS_ERROR: 'FAIL_ON_WARNINGS',
});

/** Writes the pages of the headers; returns false if Doxygen is not installed. */
export function writeHeaderPages(target) {
  if (!which('doxygen')) return false;
  mkdirSync(target, { recursive: true });
  const input = Object.entries(settings(target)).map(([name, value]) => `${name} = ${value}\n`).join('');
  const { status, stderr } = spawnSync('doxygen', ['-'], { cwd: root, input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`[docs] doxygen failed: ${stderr.trim()}`);
  return true;
}
