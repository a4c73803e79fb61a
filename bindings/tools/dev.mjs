// `npm run dev [-- --debug] [-- --port N]`: the page and the package from their sources, at once after a change.
// A change of Svelte or TypeScript goes through Vite alone. A change of C++ makes one module again, that with relaxed SIMD
// and threads, and reloads the page. `--debug` makes it with assertions and source maps (the preset wasm-debug).
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { isolation } from '../../web/serve.mjs';
import { buildPreset } from './build.mjs';
import { adapted } from './glue.mjs';
import { installPackages, setUp } from './setup.mjs';
import { main, root } from './shell.mjs';

const module = 'relaxed-threads';
const target = `wasmformer_js_${module}`;
const served = join(root, 'build/dev-wasm');
const scripts = join(root, 'bindings/js');
const mimeTypes = { '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.map': 'application/json' };

// The build without threads is that with threads, with one: so only one is made.
const oneThread = `import factory from '../${module}/wasmformer.mjs';
const threadScript = new URL('../${module}/wasmformer.mjs', import.meta.url);
export default (options) => factory({ threads: 1, threadScript, ...options });
`;

/** Puts what the build has made where the server takes it from. */
function takeModule(preset) {
  const built = join(root, 'build', preset, module);
  const to = join(served, module);
  for (const folder of [to, join(served, 'relaxed')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(to, 'wasmformer.mjs'), adapted(readFileSync(join(built, 'wasmformer.mjs'), 'utf8'), true));
  copyFileSync(join(built, 'wasmformer.wasm'), join(to, 'wasmformer.wasm'));
  copyFileSync(join(built, 'wasmformer.wasm'), join(served, 'relaxed/wasmformer.wasm'));
  writeFileSync(join(served, 'relaxed/wasmformer.mjs'), oneThread);
  if (existsSync(join(built, 'wasmformer.wasm.map'))) {
    const map = JSON.parse(readFileSync(join(built, 'wasmformer.wasm.map'), 'utf8'));
    map.sources = map.sources.map((source) => `/@fs${resolve(built, source)}`);
    writeFileSync(join(to, 'wasmformer.wasm.map'), JSON.stringify(map));
  }
}

/** Resolves to what the compiler says when a build fails, and to undefined when it succeeds. */
function rebuild(preset) {
  return new Promise((done) => {
    const child = spawn('cmake', ['--build', '--preset', preset, '--target', target, '--', '--quiet'], { cwd: root });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => output.push(text));
    child.on('error', ({ message }) => done(message));
    child.on('close', (code) => done(code === 0 ? undefined : Buffer.concat(output).toString()));
  });
}

/** `wasmformer` and its entries are the TypeScript of bindings/js, and their modules those of build/dev-wasm. */
function packageFromSource(options) {
  const entries = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports;
  return {
    name: 'package-from-source',
    enforce: 'pre',
    resolveId(name) {
      if (!/^wasmformer(\/|$)/.test(name)) return undefined;
      const built = entries[name.replace('wasmformer', '.')]?.default;
      return built && join(scripts, built.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts'));
    },
    load: (id) => (id === join(scripts, 'options.ts') ? `export const options = ${options.json};` : undefined),
    // Addresses of scripts name those that a build makes; the development server has only their sources.
    transform: (code, id) => (id.startsWith(scripts)
      ? code.replaceAll(/(new URL\('\.[^']*)\.js', import\.meta\.url\)/g, "$1.ts', import.meta.url)")
      : undefined),
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const file = request.url.match(/\/bindings\/js\/wasm\/([\w/.-]+)/)?.[1];
        const type = file && mimeTypes[file.match(/\.\w+$/)?.[0]];
        if (!type || !existsSync(join(served, file))) return next();
        response.writeHead(200, { ...isolation, 'Content-Type': type, 'Cache-Control': 'no-store' });
        return response.end(readFileSync(join(served, file)));
      });
    },
  };
}

/** All options as JSON, as the module describes them. */
async function describe(server) {
  const sources = (file) => server.ssrLoadModule(join(scripts, file));
  const { setFiles } = await sources('worker/module-urls.ts');
  setFiles(`file://${served}/`, new Map(), () => {});
  const { Engine } = await sources('worker/engine.ts');
  return JSON.stringify((await Engine.create({ build: 'relaxed' })).describe());
}

/** Makes the module again after a change of C++; a change while that lasts is taken after it. */
function rebuildOnChange(server, preset, options) {
  let [isBuilding, isChanged] = [false, false];
  const build = async () => {
    isChanged = true;
    if (isBuilding) return;
    isBuilding = true;
    while (isChanged) {
      isChanged = false;
      const started = Date.now();
      const error = await rebuild(preset);
      if (error === undefined) {
        takeModule(preset);
        options.json = await describe(server);
        server.moduleGraph.invalidateAll();
        server.ws.send({ type: 'full-reload' });
        console.log(`C++ made again in ${((Date.now() - started) / 1000).toFixed(1)} s`);
      } else {
        console.error(error);
        server.ws.send({ type: 'error', err: { message: error, stack: '' } });
      }
    }
    isBuilding = false;
  };
  let timer;
  const changed = (_, name) => {
    if (!/\.(cpp|h)$/.test(name ?? '')) return;
    clearTimeout(timer);
    timer = setTimeout(build, 50);
  };
  watch(join(root, 'src'), { recursive: true, persistent: false }, changed);
  watch(join(root, 'bindings'), { persistent: false }, changed);
}

/** The server, listening; the tests use it too. */
export async function startDevelopment({ debug = false, port = 5173 } = {}) {
  const preset = debug ? 'wasm-debug' : 'wasm';
  buildPreset(preset, [target]);
  takeModule(preset);
  // Node 20 has relaxed SIMD behind a flag, and wrong in its first compiler.
  if (Number(process.versions.node.split('.')[0]) < 21) setFlagsFromString('--experimental-wasm-relaxed-simd --no-liftoff');
  const options = { json: '{}' };
  const { createServer } = await import('vite'); // here, since it may have been installed only now
  const server = await createServer({
    configFile: join(root, 'web/vite.config.ts'),
    plugins: [packageFromSource(options)],
    server: { port, headers: isolation, fs: { allow: [root] } },
  });
  options.json = await describe(server);
  await server.listen();
  rebuildOnChange(server, preset, options);
  return server;
}

await main(import.meta.url, async (args) => {
  const { values } = parseArgs({ args, options: { debug: { type: 'boolean' }, port: { type: 'string' } } });
  setUp('wasm');
  installPackages();
  const server = await startDevelopment({ debug: values.debug, port: values.port && Number(values.port) });
  server.printUrls();
});
