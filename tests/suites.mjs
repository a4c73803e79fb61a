// The suites of `npm test`: how each is run, how its report is counted, and what must be built before.
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { root } from '../bindings/tools/shell.mjs';

// Each suite's program writes a report for people to standard output and one for run.mjs to a file.
function catch2(program, ...args) {
  return {
    command: (report) => [program, ...args, '--colour-mode', process.stdout.isTTY ? 'ansi' : 'none',
      '--reporter', 'console', '--reporter', `XML::out=${report}`],
    counts: (report) => report.match(/<OverallResultsCases successes="(\d+)" failures="(\d+)"/)?.slice(1).map(Number),
  };
}

function nodeTest(files, ...args) {
  const reporters = (report) => ['spec', 'tap'].flatMap((name, i) =>
    [`--test-reporter=${name}`, `--test-reporter-destination=${i ? report : 'stdout'}`]);
  return {
    command: (report) => [process.execPath, ...args, '--test', ...reporters(report), ...files()],
    counts: (report) => {
      const count = (name) => Number(report.match(new RegExp(`^# ${name} (\\d+)$`, 'm'))?.[1] ?? NaN);
      const [passed, failed] = [count('pass'), count('fail') + count('cancelled')];
      return Number.isNaN(passed + failed) ? undefined : [passed, failed];
    },
  };
}

function ctest(pattern) {
  return {
    command: (report) => ['ctest', '--test-dir', join(root, 'build/native'), '--tests-regex', pattern,
      '--output-on-failure', '--output-junit', report],
    counts: (report) => {
      const all = [...report.matchAll(/<testcase [^>]*status="(\w+)"/g)].map(([, status]) => status);
      const passed = all.filter((status) => status === 'run').length;
      return [passed, all.length - passed];
    },
  };
}

/** The C++ tests in Node; with `folders`, only those in these folders of tests/. */
function wasmTests(simd, flags = [], folders = []) {
  const files = folders.flatMap((folder) => readdirSync(join(root, 'tests', folder), { recursive: true }))
    .filter((name) => name.endsWith('_test.cpp')).map((name) => basename(name, '.cpp'));
  // Catch2 makes a tag of each file's name.
  const wanted = files.length > 0 ? ['-#', files.map((file) => `[#${file}]~[native]`).join(',')] : ['~[native]'];
  return catch2(process.execPath, ...flags, join(root, `build/wasm/tests/wasmformer_tests_${simd}.cjs`), ...wanted);
}

const testFiles = (folder) => () => readdirSync(join(root, folder)).sort()
  .filter((name) => name.endsWith('.test.mjs')).map((name) => join(root, folder, name));
// Each of them imports half of the tests.
const halves = () => ['half-1.mjs', 'half-2.mjs'].map((name) => join(root, 'tests/e2e', name));
const oneFile = (path) => () => [join(root, path)];
// Node 20 has relaxed SIMD behind a flag that later ones do not know, and wrong in its first compiler.
const relaxed = Number(process.versions.node.split('.')[0]) < 21 ? ['--experimental-wasm-relaxed-simd', '--no-liftoff'] : [];
// Where the kind of SIMD can make a difference; texts and files are read with plain SIMD alone.
const computing = ['tensor', 'gemm', 'autograd', 'ops', 'nn', 'model', 'train', 'tasks'];
// By default Node's runner leaves one processor idle: with two, it would run one file at a time.
const allProcessors = [`--test-concurrency=${availableParallelism()}`];

const documentation = { name: 'Documentation', native: ['wasmformer'], package: true, page: true, ...nodeTest(oneFile('tests/docs.test.mjs')) };

/**
 * What a suite needs: `native` and `wasm` are targets of those builds, `compiler` is one for native programs, `package` is
 * dist, `page` build/page, `browser` Chromium. `isAlone`: it has threads of its own, or looks at the clock. `isQuick`: it
 * belongs to `npm run test:quick`.
 */
export const suites = [
  // Longest first: two run at once.
  { name: 'Fuzzed readers', native: ['wasmformer', 'wasmformer_library'], ...nodeTest(testFiles('tests/fuzz')) },
  { name: 'Includes and shape', isQuick: true, ...nodeTest(() => ['include_order_test', 'shape.test', 'names.test'].map((name) => join(root, `tests/${name}.mjs`))) },
  { name: 'Formatting and lint', isQuick: true, ...nodeTest(oneFile('tests/format.test.mjs')) },
  // The benchmark is built only so that it keeps compiling.
  { name: 'The paper in one file', isQuick: true, compiler: true, ...nodeTest(testFiles('tests/micro')) },
  { name: 'C++, native', isQuick: true, native: ['wasmformer_tests', 'wasmformer_bench'], ...catch2(join(root, 'build/native/tests/wasmformer_tests')) },
  {
    name: 'C++, gradients in double', isQuick: true, native: ['wasmformer_gradient_tests'],
    ...catch2(join(root, 'build/native/tests/wasmformer_gradient_tests')),
  },
  { name: 'C++, WebAssembly with relaxed SIMD', wasm: ['wasmformer_tests_relaxed'], ...wasmTests('relaxed', relaxed, computing) },
  { name: 'C++, WebAssembly with plain SIMD', wasm: ['wasmformer_tests_simd'], ...wasmTests('simd') },
  { name: 'C++, the installed library', native: ['wasmformer', 'wasmformer_library', 'wasmformer_shared'], ...ctest('^installed_') },
  documentation,
  { name: 'Program', native: ['wasmformer', 'wasmformer_mpi'], package: true, ...nodeTest(testFiles('tests/cli')) },
  ...(process.platform === 'linux'
    ? [{ name: 'Torture', native: ['wasmformer', 'wasmformer_mpi'], package: true, ...nodeTest(testFiles('tests/torture'), ...relaxed) }]
    : []),
  {
    name: 'A fourth task', native: ['wasmformer', 'wasmformer_fourth_task'], wasm: ['wasmformer_fourth_task'], package: true,
    ...nodeTest(testFiles('tests/fourth_task')),
  },
  { name: 'Tarball', native: ['wasmformer'], package: true, ...nodeTest(testFiles('tests/npm')) },
  { name: 'Development server', isQuick: true, wasm: ['wasmformer_js_relaxed-threads'], ...nodeTest(testFiles('tests/dev')) },
  { name: 'Page without a browser', isQuick: true, package: true, ...nodeTest(testFiles('tests/web')) },
  {
    name: 'npm package in Node', isQuick: true, isAlone: true, native: ['wasmformer'], wasm: ['wasmformer_types'], package: true,
    ...nodeTest(testFiles('tests/js'), ...relaxed, ...allProcessors),
  },
  {
    name: 'Page in Chromium', isAlone: true, native: ['wasmformer'], package: true, page: true, browser: true,
    ...nodeTest(halves, ...allProcessors),
  },
];

/** One for each browser, of `npm run test:browsers`. */
export const browserSuites = ['Chromium', 'Firefox', 'WebKit'].map((name) => ({
  name, isAlone: true, page: true, browser: true, browsers: true,
  ...nodeTest(oneFile(`tests/browsers/${name.toLowerCase()}.test.mjs`)),
}));

/** Suites of `npm run test:guides`: what documents say, and the commands of recipes, which take minutes. */
export const guideSuites = [
  documentation,
  { name: 'Environments', package: true, browser: true, ...nodeTest(testFiles('tests/environments'), '--test-concurrency=1') },
  { name: 'Recipes of the bundled models', native: ['wasmformer'], package: true, ...nodeTest(oneFile('tests/recipes.test.mjs')) },
];
