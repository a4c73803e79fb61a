// The WebAssembly modules: the choice of a build, its start, and the calls into it.
import type { NativeModule } from '../generated/module.js';
import { fromPlainError, WasmformerError } from '../shared/errors.js';
import type { WasmBuild } from '../shared/types.js';
import { builds, readModule, threadScript, type ModuleName } from './module-urls.js';

// (func (export "f") (param i32) (result i32) (i32x4.extract_lane 0 (i32x4.relaxed_dot_i8x16_i7x16_add_s
//   (i8x16.splat (i32.const 1)) (i8x16.splat (local.get 0)) (i32x4.splat (i32.const 0)))))
// It is run, since V8 of Node 20 doubles the sum until it has optimized the function.
const relaxedProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 22, 1, 20, 0, 65, 1,
  253, 15, 32, 0, 253, 15, 65, 0, 253, 17, 253, 147, 2, 253, 27, 0, 11,
];
// (func (result v128) (i8x16.popcnt (i8x16.splat (i32.const 0))))
const simdProbe = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
];

function relaxedSumsAreRight(): boolean {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(relaxedProbe)));
  return (exports.f as (x: number) => number)(3) === 12;
}

/** The best build that this machine can run. Throws if there is no WebAssembly SIMD at all. */
export function detectBuild(): WasmBuild {
  const supports = (probe: number[]) => typeof WebAssembly === 'object' && WebAssembly.validate(new Uint8Array(probe));
  if (builds.includes('relaxed') && supports(relaxedProbe) && relaxedSumsAreRight()) return 'relaxed';
  if (supports(simdProbe)) return 'simd';
  throw new WasmformerError('no-simd', 'this browser has no WebAssembly SIMD, which wasmformer needs; update the browser', { room: 'build' });
}

/** Part of the module that describes C++ exceptions to JavaScript, and frees them. */
export type ExceptionHelper = Pick<NativeModule, 'describeException'>;

/** Functions that Emscripten adds, to save and restore the end of the module's stack. */
interface StackHelpers {
  stackSave(): number;
  stackRestore(end: number): void;
}

type WasmModule = NativeModule & StackHelpers & {
  /** Ends the workers of a module with threads. */
  endThreads?(): void;
};

interface ThreadSettings {
  /** Threads that a build with threads starts before it is ready, including the first one. */
  threads?: number;
  /** The script that they run. */
  threadScript?: URL;
  /** Memory to use instead of making one. */
  wasmMemory?: WebAssembly.Memory;
}
type Receive = (instance: WebAssembly.Instance, module: WebAssembly.Module) => WebAssembly.Exports;
type Factory<Module> = (
  options: ThreadSettings & {
    outOfMemory(): never;
    instantiateWasm(imports: WebAssembly.Imports, receive: Receive): WebAssembly.Exports;
  },
) => Promise<Module>;

interface Started<Module> {
  module: Module;
  memory: WebAssembly.Memory;
}

const outOfMemory = 'out-of-memory';

/** `limit`: the option maximumMemory, if it is given. */
function noMemory(limit?: number): WasmformerError {
  const sentence = 'there is not enough memory for this';
  if (limit === undefined) return new WasmformerError(outOfMemory, sentence, { room: 'memory' });
  const details = { maximumMemory: limit };
  return new WasmformerError(outOfMemory, `${sentence}, since maximumMemory is ${limit} bytes`, { room: 'memory', details });
}

const bytesOfPage = 2 ** 16;
// Memory that every build begins with, Emscripten's INITIAL_MEMORY.
const initialPages = 256;
// MAXIMUM_MEMORY in CMakeLists.txt.
const mostOfBuild = (threads: number) => (threads > 1 ? 2 : 4) * 2 ** 30;
const pagesIn = (bytes: number) => Math.floor(bytes / bytesOfPage);

/** Shared memory, which is reserved whole when it is made. */
function sharedMemory(limit: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: initialPages, maximum: pagesIn(limit), shared: true });
}

/** Makes the memory, which the module itself has made, refuse to grow beyond the limit. */
function limitGrowth(memory: WebAssembly.Memory, limit: number): void {
  memory.grow = (pages) => {
    const present = memory.buffer.byteLength / bytesOfPage;
    if (present + pages > pagesIn(limit)) throw new RangeError(`the memory may have ${limit} bytes`);
    return WebAssembly.Memory.prototype.grow.call(memory, pages);
  };
}

/** Source of a module: one that is compiled already, with Emscripten's script for it, or a folder of modules. */
export interface ModuleSource {
  given?: { module: WebAssembly.Module; factory: unknown };
  folder?: string;
}

/** `limit`: most bytes of its memory. */
export async function startModule<Module>(
  name: ModuleName, settings: ThreadSettings = {}, { given, folder }: ModuleSource = {}, limit?: number,
): Promise<Started<Module>> {
  const read = given && { factory: given.factory as Factory<Module>, compiled: given.module };
  const { factory, compiled } = read ?? (await readModule<Factory<Module>>(name, folder));
  let memory: WebAssembly.Memory | undefined;
  const module = await factory({
    ...settings,
    outOfMemory() {
      throw noMemory(limit);
    },
    instantiateWasm(imports, receive) {
      const instance = new WebAssembly.Instance(compiled, imports);
      // Shared memory is an import.
      const items = [instance.exports, ...Object.values(imports)].flatMap((object) => Object.values(object));
      memory = items.find((item) => item instanceof WebAssembly.Memory);
      if (limit !== undefined && !settings.wasmMemory) limitGrowth(memory!, limit);
      return receive(instance, compiled);
    },
  });
  return { module, memory: memory! };
}

function startBuild(
  build: WasmBuild, threads: number, source: ModuleSource, limit: number | undefined,
): Promise<Started<WasmModule>> {
  if (threads === 1) return startModule(build, {}, source, limit);
  const name = `${build}-threads` as const;
  const memory = limit === undefined ? {} : { wasmMemory: sharedMemory(limit) };
  return startModule(name, { threads, threadScript: threadScript(name, source.folder), ...memory }, source, limit);
}

/** The module stopped in the middle of something: no object in it can be used again. */
export class FatalError extends WasmformerError {
  constructor(cause: Error) {
    const why = cause.message;
    super('module-stopped', `the WebAssembly module stopped: ${why}`, { room: 'engine', details: { why }, cause });
  }
}

/** Makes an Error from what C++ has thrown; errors of JavaScript stay as they are. `limit`: most bytes of the memory. */
export function errorOf(module: ExceptionHelper, thrown: unknown, limit?: number): unknown {
  // Traps and stack overflows leave the module's memory in an unknown state.
  if (thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError) {
    return new FatalError(thrown);
  }
  if (thrown instanceof Error) return thrown;
  const error = module.describeException(thrown);
  return error.code === outOfMemory ? noMemory(limit) : fromPlainError({ name: 'Error', ...error });
}

/** A running module: its memory, its threads, and the C++ objects in it. */
export class Instance {
  readonly build: WasmBuild;
  readonly threads: number;
  readonly module: WasmModule;
  /** Most bytes that its memory can have. */
  readonly mostBytes: number;
  #memory: WebAssembly.Memory;
  #limit: number | undefined;
  #objects = 0;
  #isBroken = false;

  private constructor(
    build: WasmBuild, threads: number, { module, memory }: Started<WasmModule>, limit: number | undefined,
  ) {
    this.build = build;
    this.module = module;
    this.mostBytes = limit ?? mostOfBuild(threads);
    this.#limit = limit;
    this.#memory = memory;
    this.threads = this.call(() => module.startThreads(threads));
  }

  /** `maximumMemory`: in bytes. Throws if the machine cannot run the build, or not with that many threads. */
  static async start(
    build: WasmBuild, threads: number, source: ModuleSource = {}, maximumMemory?: number,
  ): Promise<Instance> {
    const limit = maximumMemory && Math.min(maximumMemory, mostOfBuild(threads));
    return new Instance(build, threads, await startBuild(build, threads, source, limit), limit);
  }

  /** C++ objects that have not been deleted. */
  get objects(): number {
    return this.#objects;
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Calls into the module; what C++ throws becomes an Error. */
  call<T>(call: () => T): T {
    const stack = this.module.stackSave();
    try {
      return call();
    } catch (thrown) {
      // An exception that leaves the module leaves its frames on the module's stack, which a few thousand would fill.
      this.module.stackRestore(stack);
      const error = errorOf(this.module, thrown, this.#limit);
      this.#isBroken ||= error instanceof FatalError;
      throw error;
    }
  }

  /** Makes a C++ object, which must be deleted with delete(). */
  create<T>(make: () => T): T {
    const object = this.call(make);
    this.#objects++;
    return object;
  }

  delete(object: { delete(): void }): void {
    if (!this.#isBroken) object.delete();
    this.#objects--;
  }

  /** Ends the threads. Nothing may be called any more. */
  end(): void {
    this.#isBroken = true;
    this.module.endThreads?.();
  }
}
