// `npm test`: installs what is missing, builds, runs every suite, and closes with `N passed, N failed`.
// `npm test -- NAME…` builds and runs only the suites whose headings contain one of the names, `npm run test:quick` those
// that need neither a browser nor a build of their own, `npm run test:guides` what documents say, `npm run test:browsers`
// one suite for each browser.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildPreset, packageTargets } from '../bindings/tools/build.mjs';
import { chromium, compilerCache, installPackages, setUp } from '../bindings/tools/setup.mjs';
import { root, run } from '../bindings/tools/shell.mjs';
import { browserSuites, guideSuites, suites } from './suites.mjs';

const results = join(root, 'build/test-results');
const env = {
  ...process.env,
  WASMFORMER_FIXTURES: process.env.WASMFORMER_FIXTURES || join(root, 'tests/fixtures'),
};

/** Seconds of each step and suite, for the table at the end. */
const times = [];
async function timed(name, body) {
  const started = Date.now();
  const result = await body();
  times.push([name, (Date.now() - started) / 1000]);
  return result;
}

/** Minutes after which a suite is stopped, as it probably hangs. */
const LONGEST = 25;

// Resolves to how the program ended; its output goes to the terminal, or with `isQuiet` waits for the end.
function execute(program, args, isQuiet) {
  return new Promise((resolve) => {
    const output = [];
    const child = spawn(program, args, {
      cwd: root, env, timeout: LONGEST * 60_000,
      stdio: ['ignore', ...(isQuiet ? ['pipe', 'pipe'] : ['inherit', 'inherit'])],
    });
    child.stdout?.on('data', (text) => output.push(text));
    child.stderr?.on('data', (text) => output.push(text));
    child.on('error', ({ message }) => resolve({ end: message, output }));
    child.on('close', (code, signal) => resolve({ end: code === 0 ? '' : signal ?? `exit code ${code}`, output }));
  });
}

// [passed, failed] of a suite; one that ends without a count, or counts nothing, has failed.
async function runSuite({ name, command, counts }, isQuiet) {
  if (!isQuiet) console.log(`\n=== ${name} ===`);
  const report = join(results, `${name.replace(/[^\w]+/g, '-')}.txt`);
  const [program, ...args] = command(report);
  const { end, output } = await timed(name, () => execute(program, args, isQuiet));
  if (isQuiet) console.log(`\n=== ${name} ===\n${Buffer.concat(output)}`);
  const counted = existsSync(report) ? counts(readFileSync(report, 'utf8')) : undefined;
  let [passed, failed] = counted ?? [0, 0];
  if (failed === 0 && (passed === 0 || end !== '')) {
    console.log(counted && end === '' ? `${name} has no tests` : `${name} broke off: ${end}`);
    failed = 1;
  }
  console.log(`${name}: ${passed} passed, ${failed} failed, ${times.at(-1)[1].toFixed(0)} s`);
  return [passed, failed];
}

// Assembling dist and the page has one thread most of its time, so suites of C++ run beside it.
async function assemble(parts) {
  const { end, output } = await timed(`Assembling ${parts.join(' and ')}`, () =>
    execute(process.execPath, ['bindings/tools/build.mjs', ...parts], true));
  console.log(Buffer.concat(output).toString());
  if (end !== '') throw new Error(`Assembling ${parts.join(' and ')} failed: ${end}`);
}

// Two at a time: each of these has one thread most of its time. Those that need the package wait for `assembled`.
async function runInPairs(wanted, assembled) {
  let isAssembled = false;
  void assembled.then(() => (isAssembled = true), () => {});
  const left = [...wanted];
  const counts = [];
  const work = async () => {
    while (left.length > 0) {
      const ready = left.findIndex((suite) => isAssembled || !suite.package);
      if (ready < 0) await assembled;
      else counts.push(await runSuite(left.splice(ready, 1)[0], true));
    }
  };
  // The other one begins when the assembling, which takes its place, is done.
  await Promise.all([work(), assembled.then(work)]);
  return counts;
}

function buildTargets(wanted) {
  const targets = (build) => [...new Set(wanted.flatMap((suite) => suite[build] ?? []))];
  // Taken where the build folder is new: changing it later would compile everything again.
  const strict = ['-DWASMFORMER_WARNINGS_AS_ERRORS=ON'];
  const native = targets('native');
  const wasm = [...targets('wasm'), ...(wanted.some((suite) => suite.package) ? packageTargets() : [])];
  setUp(...(native.length > 0 || wanted.some((suite) => suite.compiler) ? ['native'] : []), ...(wasm.length > 0 || wanted.some((suite) => suite.page) ? ['wasm'] : []), 'tests',
    ...(wanted.some((suite) => suite.browser) ? ['browser'] : []), ...(wanted.some((suite) => suite.browsers) ? ['browsers'] : []));
  installPackages({ tests: true });
  return [
    ['Building build/native', native, () => {
      // A build folder that is older than MPI has not found it.
      if (existsSync(join(root, 'build/native/build.ninja'))) run('cmake', ['build/native', '--log-level=WARNING'], { stdio: ['ignore', 'ignore', 'inherit'] });
      buildPreset('native', native, strict);
    }],
    ['Building build/wasm', wasm, () => buildPreset('wasm', wasm, strict)],
  ].filter(([, names]) => names.length > 0);
}

async function runAll(wanted) {
  for (const [name, , body] of buildTargets(wanted)) await timed(name, body);
  const needs = ['package', 'page'].filter((part) => wanted.some((suite) => suite[part]));
  const assembled = needs.length > 0 ? assemble(needs) : Promise.resolve();
  env.CHROMIUM = chromium();
  Object.assign(env, compilerCache()); // for what suites compile; ccache is there by now
  const counts = await runInPairs(wanted.filter(({ isAlone }) => !isAlone), assembled);
  for (const suite of wanted.filter(({ isAlone }) => isAlone)) counts.push(await runSuite(suite));
  return counts;
}

const isWanted = (names) => ({ name }) => names.length === 0 || names.some((part) => name.toLowerCase().includes(part.toLowerCase()));

let total = [0, 0];
try {
  const flags = process.argv.slice(2).filter((name) => name.startsWith('--'));
  const names = process.argv.slice(2).filter((name) => !name.startsWith('--'));
  const others = { '--browsers': browserSuites, '--guides': guideSuites, '--quick': suites.filter(({ isQuick }) => isQuick) };
  const offered = others[flags[0]] ?? suites;
  const wanted = offered.filter(isWanted(names));
  if (wanted.length === 0) throw new Error(`No suite is named ${names.join(', ')}; there are ${offered.map(({ name }) => name).join(', ')}`);
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const counts = await runAll(wanted);
  total = counts.reduce(([passed, failed], [p, f]) => [passed + p, failed + f], total);
} catch (error) {
  console.error(error.message);
  total[1] += 1;
}
console.log(`\n${times.map(([name, seconds]) => `${seconds.toFixed(0).padStart(5)} s  ${name}`).join('\n')}`);
console.log(`\n${total[0]} passed, ${total[1]} failed`);
process.exit(total[1] > 0 || total[0] === 0 ? 1 : 0);
