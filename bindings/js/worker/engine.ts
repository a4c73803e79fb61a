// `wasmformer/engine`: the synchronous side of the WebAssembly module, for the worker and for programs that may block.
// C++ objects are deleted by dispose() or in a finally, and no view into the module's memory leaves it.
import type { Description } from '../shared/description.js';
import type { Use } from '../shared/protocol.js';
import type { WasmBuild } from '../shared/types.js';
import { detectBuild, Instance } from './instance.js';
import { SyncTranslator } from './sync-translator.js';

export { SyncTranslator, type SyncOptions, type SyncTokenizeOptions } from './sync-translator.js';

export interface EngineOptions {
  /** Default: the best that the machine can run. */
  build?: WasmBuild;
  /** Threads to compute with, including the caller's own. Default 1. */
  threads?: number;
}

/**
 * One instance of the module: its memory and its threads, and the models in it.
 * @example
 * const engine = await Engine.create();
 * const translator = engine.load(await readFile('models/de-en.safetensors'));
 * console.log(translator.translate('Wo ist mein Buch?').text); // blocks until it is done
 */
export class Engine {
  #instance: Instance;

  private constructor(instance: Instance) {
    this.#instance = instance;
  }

  /** Throws in a service worker, and if the machine cannot run the build, or not with that many threads. */
  static async create({ build = detectBuild(), threads = 1 }: EngineOptions = {}): Promise<Engine> {
    return new Engine(await Instance.start(build, threads));
  }

  /** @internal With one thread if shared memory is refused, as phones may refuse it. */
  static async createWithin(threads: number): Promise<Engine> {
    try {
      return await Engine.create({ threads });
    } catch (error) {
      if (threads > 1 && error instanceof RangeError) return Engine.create();
      throw error;
    }
  }

  get build(): WasmBuild {
    return this.#instance.build;
  }

  get threads(): number {
    return this.#instance.threads;
  }

  get memoryBytes(): number {
    return this.#instance.memoryBytes;
  }

  /** @internal C++ objects that have not been deleted. */
  get liveObjects(): number {
    return this.#instance.objects;
  }

  /** All options, with types, ranges, defaults and help. */
  describe(): Description {
    return this.#instance.call(() => this.#instance.module.describe()) as Description;
  }

  /** Several models may be loaded at a time. Throws if it is not the file of a translator. */
  load(file: Uint8Array): SyncTranslator {
    return this.loadFor('translate', file);
  }

  /** @internal */
  loadFor(use: Use, file: Uint8Array): SyncTranslator {
    const translator = this.#instance.create(() => this.#instance.module.load(file, use));
    try {
      return new SyncTranslator(this.#instance, translator, file.byteLength);
    } catch (error) {
      this.#instance.delete(translator);
      throw error;
    }
  }

  /** @internal */
  get instance(): Instance {
    return this.#instance;
  }
}
