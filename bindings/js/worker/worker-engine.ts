// The synchronous side of the WebAssembly module, as the worker uses it; engine.ts adds what is for programs.
// C++ objects are deleted by dispose() or in a finally, and no view into the module's memory leaves it.
import { absoluteFolder, address } from '../shared/addresses.js';
import { checked, memory, oneOf, whole, type Rules } from '../shared/checks.js';
import type { Description } from '../shared/description.js';
import { WasmformerError } from '../shared/errors.js';
import { dispose } from '../shared/platform.js';
import type { Use } from '../shared/protocol.js';
import type { CompiledModule, WasmBuild } from '../shared/types.js';
import { detectBuild, Instance, type ModuleSource } from './instance.js';
import { WorkerTranslator } from './worker-translator.js';

export interface EngineOptions {
  /** Default: the best that the machine can run, or 'relaxed' with `module`. */
  build?: WasmBuild | undefined;
  /** Threads to compute with, including the caller's own. Default 1. */
  threads?: number | undefined;
  /** As in WorkerOptions. */
  maximumMemory?: number | undefined;
  /** The address of a copy of the folder dist/wasm, such as 'assets/wasm/'. Default: the package's own. */
  wasmURL?: string | URL | undefined;
  /**
   * A compiled module (a WebAssembly.Module) of wasmformer/wasm/relaxed/wasmformer.wasm, or with `build: 'simd'` of that
   * in simd, for places that may not compile or import while they run, such as service workers and Cloudflare Workers.
   * Needs `factory`, and has one thread.
   */
  module?: CompiledModule | undefined;
  /** The default export of wasmformer/wasm/relaxed/wasmformer.mjs, which is the script of both builds; with `module`. */
  factory?: ((settings: never) => Promise<unknown>) | undefined;
}

const rules: Rules<EngineOptions> = {
  build: oneOf('relaxed', 'simd'),
  threads: whole(1, 64),
  maximumMemory: memory,
  wasmURL: address,
  // By its tag, since it may be of another realm.
  module: {
    accepts: (value) => Object.prototype.toString.call(value) === '[object WebAssembly.Module]', expected: 'a WebAssembly.Module',
  },
  factory: { accepts: (value) => typeof value === 'function', expected: 'the default export of wasmformer.mjs' },
};

/** Source of the module. Throws for options that exclude each other. */
function sourceOf({ module, factory, wasmURL, threads = 1 }: EngineOptions): ModuleSource {
  if (!module && !factory) return { folder: absoluteFolder('engine', 'wasmURL', wasmURL) };
  if (!module || !factory) throw new WasmformerError('engine', 'module and factory are needed together');
  if (threads > 1) throw new WasmformerError('engine', `threads is ${threads}, but a given module has one thread`);
  if (wasmURL !== undefined) throw new WasmformerError('engine', 'wasmURL is given, but also the module itself');
  return { given: { module: module as WebAssembly.Module, factory } };
}

/** @internal Starts the module. */
export async function startInstance(options: EngineOptions): Promise<Instance> {
  const given = checked<EngineOptions>('engine', rules, options);
  const source = sourceOf(given);
  const build = given.build ?? (source.given ? 'relaxed' : detectBuild());
  return Instance.start(build, given.threads ?? 1, source, given.maximumMemory);
}

/** One instance of the module: its memory and its threads, and the models in it. */
export class WorkerEngine {
  #build: WasmBuild;
  #threads: number;
  #instance: Instance | undefined;
  #models = new Set<WorkerTranslator>();

  /** @hidden Without the types of the package's inside. */
  protected constructor(...inside: never);
  /** @internal */
  protected constructor(instance: Instance);
  protected constructor(instance: Instance) {
    this.#build = instance.build;
    this.#threads = instance.threads;
    this.#instance = instance;
  }

  static async create(options: EngineOptions = {}): Promise<WorkerEngine> {
    return new WorkerEngine(await startInstance(options));
  }

  /** @internal With one thread if shared memory is refused, as phones may refuse it. */
  static async createWithin(threads: number, maximumMemory?: number): Promise<WorkerEngine> {
    try {
      return await WorkerEngine.create({ threads, maximumMemory });
    } catch (error) {
      if (threads > 1 && error instanceof RangeError) return WorkerEngine.create({ maximumMemory });
      throw error;
    }
  }

  get build(): WasmBuild {
    return this.#build;
  }

  get threads(): number {
    return this.#threads;
  }

  get memoryBytes(): number {
    return this.#instance?.memoryBytes ?? 0;
  }

  /** @internal C++ objects that have not been deleted. */
  get liveObjects(): number {
    return this.#instance?.objects ?? 0;
  }

  /** All options, with types, ranges, defaults and help. */
  describe(): Description {
    const { instance } = this;
    return instance.call(() => instance.module.describe()) as Description;
  }

  /** @internal */
  loadFor(use: Use, file: Uint8Array): WorkerTranslator {
    return this.loadAs(WorkerTranslator, use, file);
  }

  /** @internal */
  protected loadAs<Model extends WorkerTranslator>(
    Kind: new (...inside: ConstructorParameters<typeof WorkerTranslator>) => Model, use: Use, file: Uint8Array,
  ): Model {
    const { instance } = this;
    const native = instance.create(() => instance.module.load(file, use));
    try {
      const translator = new Kind(instance, native, file);
      this.#models.add(translator);
      translator.onDispose = () => this.#models.delete(translator);
      return translator;
    } catch (error) {
      instance.delete(native);
      throw error;
    }
  }

  /** Frees its models, its memory and its threads. May be called again. */
  dispose(): void {
    for (const model of this.#models) model.dispose();
    this.#instance?.end();
    this.#instance = undefined;
  }

  [dispose](): void {
    this.dispose();
  }

  /** @internal */
  get instance(): Instance {
    if (!this.#instance) throw new WasmformerError('disposed', 'the engine has been disposed of', { room: 'engine' });
    return this.#instance;
  }
}
