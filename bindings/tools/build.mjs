// Builds parts of the project: `node bindings/tools/build.mjs native|package|page|docs|bench…`, or with `one-file [MODEL]
// [OUTPUT]` an HTML file that has the package and a model inside.
// What is up to date is left alone.
import {
  chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { installPackages, setUp } from './setup.mjs';
import { main, root, run, step } from './shell.mjs';

// The wasm builds by the name that they have in dist/wasm.
const wasmBuilds = {
  relaxed: 'wasm', simd: 'wasm-simd', 'relaxed-threads': 'wasm-threads', 'simd-threads': 'wasm-simd-threads',
};

// The program is in the one that every Node runs and that has threads.
const withProgram = wasmBuilds['simd-threads'];

// Configures a preset of CMakePresets.json once, and builds targets of it (all of them where none is named).
export function buildPreset(preset, targets = []) {
  if (!existsSync(join(root, 'build', preset, 'build.ninja'))) {
    step(`Configuring build/${preset}`);
    run('cmake', ['--preset', preset, '--log-level=WARNING'], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  step(`Building ${targets.join(', ') || 'everything'} in build/${preset}`);
  const target = targets.length > 0 ? ['--target', ...targets] : [];
  run('cmake', ['--build', '--preset', preset, ...target, ...(process.stdout.isTTY ? [] : ['--', '--quiet'])]);
}

// True when `output` is missing or older than something in the files and folders `inputs`.
export function isStale(output, inputs) {
  if (!existsSync(output)) return true;
  const built = statSync(output).mtimeMs;
  const isNewer = (path) => {
    const found = statSync(path);
    if (found.mtimeMs > built) return true;
    return found.isDirectory() && readdirSync(path).some((name) => isNewer(join(path, name)));
  };
  return inputs.some((input) => isNewer(join(root, input)));
}

// Each thread runs the module's script again, in a worker: from the address that bindings/js/worker/module.ts gives, since
// bundlers rename the script, Vite refuses Emscripten's own line, and no page may start a worker of another host.
function withThreadScript(glue) {
  const own = /new Worker\(new URL\([^()]*\),/;
  if (!own.test(glue)) throw new Error('[build] the script of this Emscripten starts its threads in an unknown way');
  return glue.replace(own, 'new Worker(Module["threadScript"],');
}

// dist/: the npm package. It is put together beside and then renamed, so it is whole or absent.
export function buildPackage() {
  const files = Object.entries(wasmBuilds).flatMap(([name, preset]) =>
    ['wasmformer.mjs', 'wasmformer.wasm'].map((file) => [join('build', preset, file), join('wasm', name, file)]));
  for (const file of ['extras.mjs', 'extras.wasm']) {
    files.push([join('build', wasmBuilds.simd, file), join('wasm/extras', file)]);
  }
  for (const file of ['cli.cjs', 'cli.wasm']) files.push([join('build', withProgram, file), join('wasm/cli', file)]);
  const further = { [wasmBuilds.simd]: ['wasmformer_extras_js'], [withProgram]: ['wasmformer'] };
  for (const preset of Object.values(wasmBuilds)) buildPreset(preset, ['wasmformer_js', ...(further[preset] ?? [])]);
  const dist = join(root, 'dist');
  const sources = ['bindings/js', 'bindings/LICENSES.txt', 'bindings/one-file', 'bindings/tools/one-file.mjs', 'bindings/tools/describe.mjs', 'web/src', 'web/element.config.ts',
    'package-lock.json'];
  if (!isStale(join(dist, 'index.js'), [...sources, ...files.map(([from]) => from)])) return;
  step('Building the npm package into dist/');
  const unfinished = join(root, 'build/package');
  rmSync(unfinished, { recursive: true, force: true });
  for (const [from, to] of files) {
    mkdirSync(join(unfinished, to, '..'), { recursive: true });
    if (to.endsWith('cli.wasm')) {
      writeFileSync(join(unfinished, `${to}.br`), brotliCompressSync(readFileSync(join(root, from))));
      continue;
    }
    copyFileSync(join(root, from), join(unfinished, to));
    if (to.endsWith('-threads/wasmformer.mjs')) {
      writeFileSync(join(unfinished, to), withThreadScript(readFileSync(join(root, from), 'utf8')));
    }
  }
  copyFileSync(join(root, 'bindings/LICENSES.txt'), join(unfinished, 'LICENSES.txt'));
  run(join(root, 'node_modules/.bin/tsc'), ['-p', 'bindings/js', '--outDir', unfinished, '--noEmitOnError']);
  run(process.execPath, ['bindings/tools/describe.mjs', unfinished]);
  const element = ['build', 'web', '--config', 'web/element.config.ts', '--outDir', unfinished, '--logLevel', 'warn'];
  run(join(root, 'node_modules/.bin/vite'), element);
  run(process.execPath, ['bindings/tools/one-file.mjs', 'script', unfinished]);
  chmodSync(join(unfinished, 'cli.js'), 0o755);
  rmSync(dist, { recursive: true, force: true });
  renameSync(unfinished, dist);
}

// One HTML file with a model inside, which works from a disk; paths are taken from the current folder.
export function buildOneFile(
  model = join(root, 'web/public/models/de-en.safetensors'), output = join(root, 'build/wasmformer.html'),
) {
  buildPackage();
  run(process.execPath, ['bindings/tools/one-file.mjs', 'page', resolve(model), resolve(output)]);
}

export function buildPage() {
  buildPackage();
  if (!isStale(join(root, 'build/page/index.html'), ['web', 'dist', 'package-lock.json'])) return;
  step('Building the page into build/page');
  run(join(root, 'node_modules/.bin/vite'), ['build', 'web', '--logLevel', 'warn']);
  rmSync(join(root, 'build/page/models/README.md'), { force: true });
}

function buildBenchmarks() {
  buildPackage();
  buildPreset('native', ['wasmformer', 'wasmformer_bench']);
  const measured = Object.values(wasmBuilds).filter((preset) => preset !== 'wasm-simd-threads');
  for (const preset of measured) buildPreset(preset, ['wasmformer_bench']);
}

// build/docs: the pages of the package's types.
function buildDocs() {
  buildPackage();
  step('Writing the API pages into build/docs');
  run(join(root, 'node_modules/.bin/typedoc'), ['--tsconfig', 'bindings/docs/tsconfig.json', '--logLevel', 'Warn']);
}

const parts = {
  native: { needs: ['native'], build: () => buildPreset('native', ['wasmformer', 'wasmformer_library']) },
  package: { needs: ['wasm'], build: () => (installPackages(), buildPackage()) },
  page: { needs: ['wasm'], build: () => (installPackages(), buildPage()) },
  docs: { needs: ['wasm'], build: () => (installPackages({ tests: true }), buildDocs()) },
  bench: { needs: ['native', 'wasm', 'browser'], build: () => (installPackages({ tests: true }), buildBenchmarks()) },
};

await main(import.meta.url, (names) => {
  if (names[0] === 'one-file') {
    setUp('wasm');
    installPackages();
    return buildOneFile(...names.slice(1));
  }
  for (const name of names) {
    if (!parts[name]) throw new Error(`[build] unknown part '${name}'; there are ${Object.keys(parts).join(', ')}`);
    setUp(...parts[name].needs);
    parts[name].build();
  }
});
