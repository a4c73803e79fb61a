// `npm test`: installs what is missing, builds, runs every suite, and closes with `N passed, N failed`.
// `npm test -- NAME…` runs the suites whose headings contain one of the names. `npm run test:browsers` does the same with
// one suite for each browser.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildPackage, buildPage, buildPreset } from '../bindings/tools/build.mjs';
import { chromium, installPackages, setUp } from '../bindings/tools/setup.mjs';
import { root, run } from '../bindings/tools/shell.mjs';

const results = join(root, 'build/test-results');
const env = {
  ...process.env,
  WASMFORMER_FIXTURES: process.env.WASMFORMER_FIXTURES || join(root, 'tests/fixtures'),
};

// Each suite's program writes a report for people to standard output and one for this script to a file.
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

function wasmTests(simd, ...flags) {
  return catch2(process.execPath, ...flags, join(root, `build/wasm/tests/wasmformer_tests_${simd}.cjs`), '~[native]');
}

const testFiles = (folder) => () => readdirSync(join(root, folder)).sort()
  .filter((name) => name.endsWith('.test.mjs')).map((name) => join(root, folder, name));
// Node 20 has relaxed SIMD behind a flag that later ones do not know, and wrong in its first compiler.
const relaxed = Number(process.versions.node.split('.')[0]) < 21 ? ['--experimental-wasm-relaxed-simd', '--no-liftoff'] : [];

// By default Node's runner leaves one processor idle: with two, it would run one file at a time.
const allProcessors = [`--test-concurrency=${availableParallelism()}`];

const suites = {
  // Longest first: two suites run at once.
  'Fuzzed readers': nodeTest(testFiles('tests/fuzz')),
  'Includes and budget': nodeTest(() => ['include_order', 'budget'].map((name) => join(root, `tests/${name}_test.mjs`))),
  'Formatting and lint': nodeTest(() => [join(root, 'tests/format.test.mjs')]),
  Documentation: nodeTest(() => [join(root, 'tests/docs.test.mjs')]),
  'C++, WebAssembly with relaxed SIMD': wasmTests('relaxed', ...relaxed),
  'C++, WebAssembly with plain SIMD': wasmTests('simd'),
  'C++, native': catch2(join(root, 'build/native/tests/wasmformer_tests')),
  'C++, gradients in double': catch2(join(root, 'build/native/tests/wasmformer_gradient_tests')),
  'C++, the installed library': ctest('^installed_'),
  Program: nodeTest(testFiles('tests/cli')),
  ...(process.platform === 'linux' && { Torture: nodeTest(testFiles('tests/torture'), ...relaxed) }),
  'npm package in Node': nodeTest(testFiles('tests/js'), ...relaxed, ...allProcessors),
  Tarball: nodeTest(testFiles('tests/npm')),
  'Page without a browser': nodeTest(testFiles('tests/web')),
  'Page in Chromium': nodeTest(testFiles('tests/e2e'), ...allProcessors),
};
const isBrowsers = process.argv[2] === '--browsers';
const browserSuites = Object.fromEntries(['Chromium', 'Firefox', 'WebKit']
  .map((name) => [name, nodeTest(() => [join(root, `tests/browsers/${name.toLowerCase()}.test.mjs`)])]));

// Resolves to how the program ended; its output goes to the terminal, or with `isQuiet` waits for the end.
function execute(program, args, isQuiet) {
  return new Promise((resolve) => {
    const output = [];
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', ...(isQuiet ? ['pipe', 'pipe'] : ['inherit', 'inherit'])] });
    child.stdout?.on('data', (text) => output.push(text));
    child.stderr?.on('data', (text) => output.push(text));
    child.on('error', ({ message }) => resolve({ end: message, output }));
    child.on('close', (code, signal) => resolve({ end: code === 0 ? '' : signal ?? `exit code ${code}`, output }));
  });
}

// [passed, failed] of a suite; one that ends without a count, or counts nothing, has failed.
async function runSuite(name, { command, counts }, isQuiet) {
  if (!isQuiet) console.log(`\n=== ${name} ===`);
  const report = join(results, `${name.replace(/[^\w]+/g, '-')}.txt`);
  const [program, ...args] = command(report);
  const started = Date.now();
  const { end, output } = await execute(program, args, isQuiet);
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  if (isQuiet) console.log(`\n=== ${name} ===\n${Buffer.concat(output)}`);
  const counted = existsSync(report) ? counts(readFileSync(report, 'utf8')) : undefined;
  let [passed, failed] = counted ?? [0, 0];
  if (failed === 0 && (passed === 0 || end !== '')) {
    console.log(counted && end === '' ? `${name} has no tests` : `${name} broke off: ${end}`);
    failed = 1;
  }
  console.log(`${name}: ${passed} passed, ${failed} failed, ${seconds} s`);
  return [passed, failed];
}

// These have threads of their own, and the page looks at the clock.
const alone = ['npm package in Node', 'Page in Chromium', ...Object.keys(browserSuites)];

// Two at a time: each of these has one thread most of its time.
async function runInPairs(suites) {
  const left = [...suites];
  const all = [];
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) all.push(await runSuite(...next, true));
  };
  await Promise.all([work(), work()]);
  return all;
}

function build() {
  if (isBrowsers) {
    setUp('wasm', 'browser', 'browsers');
    installPackages({ tests: true });
    return buildPage();
  }
  setUp('native', 'wasm', 'browser', 'tests');
  installPackages({ tests: true });
  // Taken where the build folder is new: changing it later would compile everything again.
  const strict = ['-DWASMFORMER_WARNINGS_AS_ERRORS=ON'];
  // A build folder that is older than MPI has not found it.
  if (existsSync(join(root, 'build/native/build.ninja'))) run('cmake', ['build/native', '--log-level=WARNING'], { stdio: ['ignore', 'ignore', 'inherit'] });
  buildPreset('native', ['wasmformer', 'wasmformer_mpi', 'wasmformer_library', 'wasmformer_tests', 'wasmformer_gradient_tests'], strict);
  buildPreset('wasm', ['wasmformer_tests_relaxed', 'wasmformer_tests_simd', 'wasmformer_types'], strict);
  buildPackage();
  buildPage();
  env.CHROMIUM = chromium();
}

let total = [0, 0];
try {
  build();
  const names = process.argv.slice(isBrowsers ? 3 : 2);
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const wanted = Object.entries(isBrowsers ? browserSuites : suites)
    .filter(([name]) => names.length === 0 || names.some((part) => name.toLowerCase().includes(part.toLowerCase())));
  const counts = await runInPairs(wanted.filter(([name]) => !alone.includes(name)));
  for (const [name, suite] of wanted.filter(([name]) => alone.includes(name))) counts.push(await runSuite(name, suite));
  total = counts.reduce(([passed, failed], [p, f]) => [passed + p, failed + f], total);
} catch (error) {
  console.error(error.message);
  total[1] += 1;
}
console.log(`\n${total[0]} passed, ${total[1]} failed`);
process.exit(total[1] > 0 || total[0] === 0 ? 1 : 0);
