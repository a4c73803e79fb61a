// Chooses the best build that this machine can run, and starts it.
import { readModule, threadScript, type ModuleName } from './files.js';
import type { WasmModule } from './module.js';
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

export async function start<Module>(name: ModuleName, settings: ThreadSettings = {}): Promise<Started<Module>> {
  const { factory, compiled } = await readModule<Factory<Module>>(name);
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
  return threads > 1 ? start(`${build}-threads`, { threads, threadScript: threadScript(`${build}-threads`) }) : start(build);
}
