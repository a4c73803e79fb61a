// Builds parts of the project: `node bindings/tools/build.mjs native|package|model-packages|page|site|docs|bench…`, or
// with `one-file [MODEL] [OUTPUT]` an HTML file that has the package and a model inside.
// Parts that are up to date are left alone.
import {
  chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { modelSources, packModels } from './model-packages.mjs';
import { precompress } from './precompress.mjs';
import { writeHeaderPages, writeReferencePages } from './reference.mjs';
import { installPackages, setUp } from './setup.mjs';
import { main, root, run, step } from './shell.mjs';
import { removeComments } from './without-comments.mjs';

// The modules of the package, each a folder of build/wasm and of dist/wasm.
const modules = ['relaxed', 'simd', 'relaxed-threads', 'simd-threads'];

// Configures a preset of CMakePresets.json once, with `settings`, and builds targets of it.
export function buildPreset(preset, targets, settings = []) {
  const isNew = !existsSync(join(root, 'build', preset, 'build.ninja'));
  if (isNew) {
    step(`Configuring build/${preset}`);
    run('cmake', ['--preset', preset, '--log-level=WARNING', ...settings], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const what = preset === 'wasm' ? 'WebAssembly' : `build/${preset}`;
  step(`Building ${what}${isNew ? ', which takes some minutes the first time' : ''}`);
  run('cmake', ['--build', '--preset', preset, '--target', ...targets, ...(process.stdout.isTTY ? [] : ['--', '--quiet'])]);
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

const hasProgram = () => existsSync(join(root, 'dist/wasm/cli'));

/** The targets of build/wasm that dist is put together from. */
export const packageTargets = ({ withProgram = true } = {}) =>
  [...modules.map((name) => `wasmformer_js_${name}`), 'wasmformer_extras_js', ...(withProgram ? ['wasmformer'] : [])];

// dist/: the npm package. For the page alone, the program for Node, which takes long to compile, is included only if it
// was built before. The folder is put together beside dist and then renamed, so dist is whole or absent.
export function buildPackage({ needsProgram = true } = {}) {
  const withProgram = needsProgram || hasProgram();
  const files = [...modules.map((name) => `${name}/wasmformer`), 'extras/extras'].flatMap((name) => [`${name}.mjs`, `${name}.wasm`]);
  if (withProgram) files.push('cli/cli.cjs', 'cli/cli.wasm');
  const built = (file) => join('build/wasm', file);
  buildPreset('wasm', packageTargets({ withProgram }));
  const dist = join(root, 'dist');
  const sources = ['bindings/js', 'bindings/LICENSES.txt', 'bindings/tiny.safetensors', 'bindings/one-file', 'web/public/models', 'web/src', 'web/element.config.ts', 'package-lock.json',
    ...['describe.mjs', 'generate-types.mjs', 'glue.mjs', 'model-packages.mjs', 'one-file.mjs', 'option-notes.json'].map((name) => `bindings/tools/${name}`)];
  const isWhole = !withProgram || existsSync(join(dist, 'wasm/cli'));
  if (isWhole && !isStale(join(dist, 'index.js'), [...sources, ...files.map(built)])) return;
  step('Building the npm package into dist/');
  const unfinished = join(root, 'build/package');
  rmSync(unfinished, { recursive: true, force: true });
  for (const file of files) {
    const from = join(root, built(file));
    const to = join(unfinished, 'wasm', file);
    mkdirSync(dirname(to), { recursive: true });
    if (file === 'cli/cli.wasm') {
      writeFileSync(`${to}.br`, brotliCompressSync(readFileSync(from), { params: { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_FONT } })); // the smallest
    } else {
      copyFileSync(from, to);
    }
  }
  for (const file of ['LICENSES.txt', 'tiny.safetensors']) copyFileSync(join(root, 'bindings', file), join(unfinished, file));
  run(process.execPath, ['bindings/tools/glue.mjs', unfinished]);
  run(process.execPath, ['bindings/tools/describe.mjs', unfinished]);
  run(join(root, 'node_modules/.bin/tsc'), ['-p', 'bindings/js', '--outDir', unfinished, '--noEmitOnError']);
  removeComments(unfinished);
  const options = JSON.parse(readFileSync(join(unfinished, 'options.json'), 'utf8'));
  writeFileSync(join(unfinished, 'options.js'), `export const options = ${JSON.stringify(options, undefined, 1)};\n`);
  // Entries at the addresses that they had in copies of dist before.
  mkdirSync(join(unfinished, 'page'));
  for (const [name, entry] of Object.entries({ pages: 'webpages/index', pipeline: 'pipeline/index', convert: 'convert/index' })) {
    for (const ending of ['js', 'd.ts']) writeFileSync(join(unfinished, `page/${name}.${ending}`), `export * from '../${entry}.js';\n`);
  }
  // With what they import inside.
  const bundle = (name, ...how) => run(join(root, 'node_modules/.bin/rolldown'),
    [join(unfinished, name), '--file', join(unfinished, name), ...how, '--logLevel', 'silent']);
  for (const name of ['webpages/html-tokenizer.js', 'worker/zstd.js']) bundle(name, '--minify');
  const element = ['build', 'web', '--config', 'web/element.config.ts', '--outDir', unfinished, '--logLevel', 'warn'];
  run(join(root, 'node_modules/.bin/vite'), element);
  run(process.execPath, ['bindings/tools/one-file.mjs', 'script', unfinished]);
  // Last, since the one-file build replaces parts of it. Not minified, which would take comments for bundlers away.
  bundle('worker/worker.js');
  chmodSync(join(unfinished, 'cli.js'), 0o755);
  rmSync(dist, { recursive: true, force: true });
  renameSync(unfinished, dist);
}

// One HTML file with a model inside, which works from a disk; paths are taken from the current folder.
export function buildOneFile(
  model = join(root, 'web/public/models/de-en.safetensors'), output = join(root, 'build/wasmformer.html'),
) {
  buildPackage({ needsProgram: false });
  run(process.execPath, ['bindings/tools/one-file.mjs', 'page', resolve(model), resolve(output)]);
}

export function buildPage() {
  buildPackage({ needsProgram: false });
  if (!isStale(join(root, 'build/page/index.html'), ['web', 'dist', 'bindings/detect-model', 'package-lock.json'])) return;
  step('Building the page into build/page');
  run(join(root, 'node_modules/.bin/vite'), ['build', 'web', '--logLevel', 'warn']);
  rmSync(join(root, 'build/page/labelled/README.md'), { force: true });
}

/** The models as npm packages. */
export function buildModelPackages() {
  if (isStale(join(root, 'build/model-packages'), modelSources)) packModels();
}

/** The page as a static host gets it: with compressed copies of its files. */
export async function buildSite() {
  buildPage();
  step('Compressing its files');
  await precompress(join(root, 'build/page'));
}

function buildBenchmarks() {
  buildPackage();
  buildPreset('native', ['wasmformer', 'wasmformer_bench']);
  buildPreset('wasm', ['relaxed', 'simd', 'relaxed-threads'].map((name) => `wasmformer_bench_${name}`));
}

// The guides, the pages of the package's types, of the program's options and of C++, with what their live examples load.
export function writeDocs(output) {
  step('Writing the API pages');
  writeReferencePages();
  run(join(root, 'node_modules/.bin/typedoc'), ['--tsconfig', 'bindings/docs/tsconfig.json', '--out', output, '--logLevel', 'Warn'], { cwd: root });
  if (!writeHeaderPages(join(output, 'cpp'))) step('doxygen is missing, so the pages of the C++ headers are left out');
  cpSync(join(root, 'dist'), join(output, 'wasmformer'), { recursive: true, filter: (path) => !/\/cli(\.js)?$/.test(path) });
  mkdirSync(join(output, 'models'), { recursive: true });
  copyFileSync(join(root, 'web/public/models/de-en.safetensors'), join(output, 'models/de-en.safetensors'));
}

function buildDocs() {
  buildPackage();
  writeDocs(join(root, 'build/docs'));
}

// Requirements of each part: tools of the system and, with `packages`, npm packages.
const parts = {
  native: { needs: ['native'], build: () => buildPreset('native', ['wasmformer', 'wasmformer_library']) },
  package: { needs: ['wasm'], packages: {}, build: () => buildPackage() },
  'model-packages': { needs: [], build: buildModelPackages },
  page: { needs: ['wasm'], packages: {}, build: buildPage },
  site: { needs: ['wasm'], packages: {}, build: buildSite },
  docs: { needs: ['wasm', 'docs'], packages: { tests: true }, build: buildDocs },
  bench: { needs: ['native', 'wasm', 'browser'], packages: { tests: true }, build: buildBenchmarks },
};

await main(import.meta.url, async (names) => {
  if (names[0] === 'one-file') {
    setUp('wasm');
    installPackages();
    return buildOneFile(...names.slice(1));
  }
  for (const name of names) {
    if (!parts[name]) throw new Error(`[build] unknown part '${name}'; there are ${Object.keys(parts).join(', ')}`);
    const { needs, packages, build } = parts[name];
    setUp(...needs);
    if (packages) installPackages(packages);
    await build();
  }
});
