// The files of the modules. In the one-file build, bindings/one-file/files.ts replaces this file.
import { httpStatus, WasmformerError } from '../shared/errors.js';
import { nodeModule, notHere, sameOriginScript, trusted } from '../shared/platform.js';
import type { CompiledModule } from '../shared/protocol.js';
import type { WasmBuild } from '../shared/types.js';

/** A build of the module, or the module for conversions and tokenizers. */
export type ModuleName = WasmBuild | `${WasmBuild}-threads` | 'extras';

/** The builds that this package has, best first. */
export const builds: readonly WasmBuild[] = ['relaxed', 'simd'];

interface Addresses {
  glue: URL;
  wasm: URL;
}

// Emscripten's script for each module, and the module. Each address is written in full, since that is how bundlers find
// files: `new URL('…', import.meta.url)`. Relaxed and plain SIMD have the same script. Functions, since in some places, such
// as Cloudflare Workers, scripts have no address, and what needs none is to work there.
const addresses: Record<ModuleName, () => Addresses> = {
  relaxed: () => ({
    glue: new URL('../wasm/relaxed/wasmformer.mjs', import.meta.url),
    wasm: new URL('../wasm/relaxed/wasmformer.wasm', import.meta.url),
  }),
  simd: () => ({
    glue: new URL('../wasm/relaxed/wasmformer.mjs', import.meta.url),
    wasm: new URL('../wasm/simd/wasmformer.wasm', import.meta.url),
  }),
  'relaxed-threads': () => ({
    glue: new URL('../wasm/relaxed-threads/wasmformer.mjs', import.meta.url),
    wasm: new URL('../wasm/relaxed-threads/wasmformer.wasm', import.meta.url),
  }),
  'simd-threads': () => ({
    glue: new URL('../wasm/relaxed-threads/wasmformer.mjs', import.meta.url),
    wasm: new URL('../wasm/simd-threads/wasmformer.wasm', import.meta.url),
  }),
  extras: () => ({
    glue: new URL('../wasm/extras/extras.mjs', import.meta.url),
    wasm: new URL('../wasm/extras/extras.wasm', import.meta.url),
  }),
};

// The advice where no modules can be found or imported.
const giveModule = 'give Engine.create() the options module and factory';

let folder: string | undefined;
/** Compiled modules by URL. */
let modules = new Map<string, CompiledModule>();
let onCompiled: (url: string, module: CompiledModule) => void = () => {};

/** Sets the folder of the modules (default: the package's own), compiled modules, and what to call after compiling one. */
export function setFiles(wasm: string | undefined, compiled: typeof modules, report: typeof onCompiled): void {
  [folder, modules, onCompiled] = [wasm, compiled, report];
}

/** `place`: the folder of the modules, if it is not the one that was set. */
function addressesOf(name: ModuleName, place = folder): Addresses {
  if (place === undefined) return ownAddresses(name);
  const file = name === 'extras' ? 'extras' : 'wasmformer';
  return { glue: new URL(`${name.replace('simd', 'relaxed')}/${file}.mjs`, place), wasm: new URL(`${name}/${file}.wasm`, place) };
}

function ownAddresses(name: ModuleName): Addresses {
  try {
    return addresses[name]();
  } catch (cause) {
    throw notHere('engine', 'the script of the package has no address here, from which its modules could be found', giveModule, cause);
  }
}

async function moduleAt(url: URL): Promise<WebAssembly.Module> {
  const found = modules.get(url.href);
  if (found) return found as WebAssembly.Module;
  const module = await compile(url);
  modules.set(url.href, module);
  onCompiled(url.href, module);
  return module;
}

async function compile(url: URL): Promise<WebAssembly.Module> {
  if (url.protocol === 'file:') {
    const { readFile } = await nodeModule<typeof import('node:fs/promises')>('fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw httpStatus('build', url.href, response);
  // Streaming compilation needs this type, which some servers do not send.
  if (response.headers.get('content-type')?.startsWith('application/wasm')) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/**
 * What is wrong with a script that cannot be imported, which import() does not say. Browsers refuse scripts of
 * another type, and some servers do not know .mjs. A server of a single page sends its HTML for a missing file.
 */
async function faultOf(url: URL): Promise<string> {
  const where = "set wasmURL to the address of the package's wasm folder";
  const answer = url.protocol === 'file:' ? undefined : await fetch(url, { method: 'HEAD' }).catch(() => undefined);
  const type = answer?.headers.get('content-type') ?? 'a file without a type';
  if (!answer?.ok || type.includes('javascript')) return `${url.href} could not be loaded; ${where}`;
  return `${url.href} could not be loaded: the server sends it as ${type}; make it send .mjs as text/javascript, or ${where}`;
}

async function importScript(url: URL): Promise<unknown> {
  try {
    return await import(/* webpackIgnore: true */ /* @vite-ignore */ url.href);
  } catch (cause) {
    // Service workers never allow import() once their script runs.
    if ('ServiceWorkerGlobalScope' in globalThis) throw notHere('engine', 'this environment cannot import modules', giveModule, cause);
    throw new WasmformerError('build', await faultOf(url), { cause });
  }
}

/** A compiled module, and the default export of Emscripten's script for it; `place` as in addressesOf. */
export async function readModule<Factory>(
  name: ModuleName, place?: string,
): Promise<{ factory: Factory; compiled: WebAssembly.Module }> {
  const { glue, wasm } = addressesOf(name, place);
  const compiling = moduleAt(wasm);
  compiling.catch(() => {}); // if both fail, the script's error is thrown
  const { default: factory } = await importScript(glue) as { default: Factory };
  return { factory, compiled: await compiling };
}

/** The script that the workers of a module's threads run. */
export function threadScript(name: ModuleName, place?: string): URL {
  return trusted(sameOriginScript(addressesOf(name, place).glue));
}
