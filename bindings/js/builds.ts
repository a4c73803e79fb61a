// Chooses the best build that this machine can run, and starts it.
import type { WasmModule } from './module.js';
import { nodeModule } from './node.js';
import { startable } from './port.js';
import type { Build } from './types.js';

// (func (export "f") (param i32) (result i32) (i32x4.extract_lane 0 (i32x4.relaxed_dot_i8x16_i7x16_add_s
//   (i8x16.splat (i32.const 1)) (i8x16.splat (local.get 0)) (i32x4.splat (i32.const 0)))))
// It is run, since V8 of Node 20 doubles the sum as long as it has not optimised the function.
const relaxedProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 22, 1, 20, 0, 65, 1,
  253, 15, 32, 0, 253, 15, 65, 0, 253, 17, 253, 147, 2, 253, 27, 0, 11,
];
// (func (result v128) (i8x16.popcnt (i8x16.splat (i32.const 0))))
const simdProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
];

function sumsRight(): boolean {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(relaxedProbe)));
  return (exports.f as (x: number) => number)(3) === 12;
}

/** Throws where there is no WebAssembly SIMD at all. */
export function detectBuild(): Build {
  const knows = (probe: number[]) => typeof WebAssembly === 'object' && WebAssembly.validate(new Uint8Array(probe));
  if (knows(relaxedProbe) && sumsRight()) return 'relaxed';
  if (knows(simdProbe)) return 'simd';
  throw new Error('[build] this browser has no WebAssembly SIMD, which wasmformer needs; a current version has it');
}

/** Where a module lies: Emscripten's script for it, and the module itself. */
export interface Addresses {
  glue: URL;
  wasm: URL;
}

// Each address is written out in full, since bundlers find files by `new URL('…', import.meta.url)` only so.
function addresses(build: Build, hasThreads: boolean): Addresses {
  switch (`${build}${hasThreads ? '-threads' : ''}` as const) {
    case 'relaxed':
      return {
        glue: new URL('./wasm/relaxed/wasmformer.mjs', import.meta.url),
        wasm: new URL('./wasm/relaxed/wasmformer.wasm', import.meta.url),
      };
    case 'simd':
      return {
        glue: new URL('./wasm/simd/wasmformer.mjs', import.meta.url),
        wasm: new URL('./wasm/simd/wasmformer.wasm', import.meta.url),
      };
    case 'relaxed-threads':
      return {
        glue: new URL('./wasm/relaxed-threads/wasmformer.mjs', import.meta.url),
        wasm: new URL('./wasm/relaxed-threads/wasmformer.wasm', import.meta.url),
      };
    case 'simd-threads':
      return {
        glue: new URL('./wasm/simd-threads/wasmformer.mjs', import.meta.url),
        wasm: new URL('./wasm/simd-threads/wasmformer.wasm', import.meta.url),
      };
  }
}

async function compile(url: URL): Promise<WebAssembly.Module> {
  if (url.protocol === 'file:') {
    const { readFile } = await nodeModule<typeof import('node:fs/promises')>('fs/promises');
    return WebAssembly.compile(await readFile(url));
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`[build] ${url.href} answered ${response.status} ${response.statusText}`);
  // Compiling while it arrives is only allowed for this type, which some servers do not know.
  if (response.headers.get('content-type')?.startsWith('application/wasm')) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

interface ThreadSettings {
  /** What a build with threads makes before it is ready, its first thread counted, and the script that they run. */
  threads?: number;
  threadScript?: URL;
}
type Receive = (instance: WebAssembly.Instance, module: WebAssembly.Module) => WebAssembly.Exports;
type Factory<Module> = (
  options: ThreadSettings & {
    instantiateWasm(imports: WebAssembly.Imports, receive: Receive): WebAssembly.Exports;
  },
) => Promise<Module>;

export interface Started<Module> {
  module: Module;
  memory: WebAssembly.Memory;
}

export async function start<Module>({ glue, wasm }: Addresses, settings: ThreadSettings = {}): Promise<Started<Module>> {
  const [{ default: factory }, compiled] = await Promise.all([
    import(/* webpackIgnore: true */ /* @vite-ignore */ glue.href) as Promise<{ default: Factory<Module> }>,
    compile(wasm),
  ]);
  let memory: WebAssembly.Memory | undefined;
  const module = await factory({
    ...settings,
    instantiateWasm(imports, receive) {
      const instance = new WebAssembly.Instance(compiled, imports);
      // Memory that is shared comes from outside.
      const items = [instance.exports, ...Object.values(imports)].flatMap((object) => Object.values(object));
      memory = items.find((item) => item instanceof WebAssembly.Memory);
      return receive(instance, compiled);
    },
  });
  return { module, memory: memory! };
}

export function startModule(build: Build, threads: number): Promise<Started<WasmModule>> {
  const found = addresses(build, threads > 1);
  return start(found, { threads, threadScript: startable(found.glue) });
}
