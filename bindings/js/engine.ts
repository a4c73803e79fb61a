// The synchronous side over the WebAssembly module: the worker uses it, and programs that may block.
// Nothing of the module's memory leaves it; every C++ object is deleted by dispose() or in a finally.
import { detectBuild, startModule } from './builds.js';
import { errorOf, FatalError } from './errors.js';
import { readHeader } from './header.js';
import { Model } from './model.js';
import type { NativeOptions, NativeSampling, NativeTrainingRequest, NativeTranslator, WasmModule } from './module.js';
import { checkTranslate } from './options.js';
import { fromPlain } from './results.js';
import { dispose } from './symbol.js';
import { Training } from './training.js';
import type { Build, ModelConfig, TranslateOptions, Translation, TranslatorInfo } from './types.js';

export interface EngineOptions {
  /** Default: the best that the machine can run. */
  build?: Build;
  /** Threads to compute with, the caller's own counted. Default 1. */
  threads?: number;
}

/** One instance of the module: its memory and its threads, and the models in it. */
export class Engine {
  #module: WasmModule;
  #memory: WebAssembly.Memory;
  #live = 0;
  #isBroken = false;
  readonly build: Build;
  readonly threads: number;

  private constructor(build: Build, threads: number, module: WasmModule, memory: WebAssembly.Memory) {
    this.build = build;
    this.#module = module;
    this.#memory = memory;
    this.threads = this.run(() => module.startThreads(threads));
  }

  /** Throws where the machine cannot run the build, or that many threads. */
  static async create({ build = detectBuild(), threads = 1 }: EngineOptions = {}): Promise<Engine> {
    const { module, memory } = await startModule(build, threads);
    return new Engine(build, threads, module, memory);
  }

  /** With one thread where the memory that several share is refused, as phones may refuse it. */
  static async createWithin(threads: number): Promise<Engine> {
    try {
      return await Engine.create({ threads });
    } catch (error) {
      if (threads > 1 && error instanceof RangeError) return Engine.create();
      throw error;
    }
  }

  /** C++ objects that exist, for the tests. */
  get liveObjects(): number {
    return this.#live;
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** Any number of models may be there at a time. Throws for anything but a model file. */
  load(file: Uint8Array): SyncTranslator {
    const translator = this.own(() => this.#module.load(file));
    try {
      return new SyncTranslator(this, translator, file);
    } catch (error) {
      this.release(translator);
      throw error;
    }
  }

  /** @internal Files that are not given are empty. */
  train(request: NativeTrainingRequest, model: Uint8Array, source: Uint8Array, target: Uint8Array): Training {
    return new Training(this, this.own(() => this.#module.train(request, model, source, target)));
  }

  /** @internal */
  defaultOptions(): NativeOptions {
    return this.run(() => this.#module.defaultOptions());
  }

  /** @internal */
  defaultSampling(): NativeSampling {
    return this.run(() => this.#module.defaultSampling());
  }

  /** @internal Calls into the module; what C++ throws becomes an Error with its sentence. */
  run<T>(call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      const error = errorOf(this.#module, thrown);
      this.#isBroken ||= error instanceof FatalError;
      throw error;
    }
  }

  /** @internal A C++ object, to be released. */
  own<T>(make: () => T): T {
    const object = this.run(make);
    this.#live++;
    return object;
  }

  /** @internal */
  release(object: { delete(): void }): void {
    if (!this.#isBroken) object.delete();
    this.#live--;
  }
}

/** Translator without a worker: translate() blocks until it is done. */
export class SyncTranslator extends Model<NativeTranslator> {
  readonly info: TranslatorInfo;

  /** @internal */
  constructor(engine: Engine, native: NativeTranslator, file: Uint8Array) {
    const config = JSON.parse(engine.run(() => native.config())) as ModelConfig;
    super(engine, native, config);
    this.info = { ...readHeader(file), config, build: engine.build, threads: engine.threads };
  }

  /**
   * As Translator.translate, with its options but the signal, which nobody could raise meanwhile.
   * @throws when an option is not known or not possible, or a text is longer than the model allows
   */
  translate(text: string, options?: Omit<TranslateOptions<string>, 'signal'>): Translation;
  translate(text: readonly string[], options?: Omit<TranslateOptions<string[]>, 'signal'>): Translation[];
  translate(text: string | readonly string[], options: object = {}): Translation | Translation[] {
    if ('signal' in options) throw new Error('[translate] signal cannot end a call that blocks; a Translator takes it');
    const { texts, search, onToken } = checkTranslate(text, options);
    const isOne = typeof text === 'string';
    const job = this.start(texts, search);
    try {
      for (const partial of job.steps(onToken !== undefined)) if (partial) onToken?.(isOne ? partial[0]! : partial);
      const translations = job.result().map(fromPlain);
      return isOne ? translations[0]! : translations;
    } finally {
      job.dispose();
    }
  }

  [dispose](): void {
    this.dispose();
  }
}
