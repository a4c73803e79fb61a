// `wasmformer/engine`: the synchronous side of the WebAssembly module, for the worker and for programs that may block.
// C++ objects are deleted by dispose() or in a finally, and no view into the module's memory leaves it.
import type { Description } from '../shared/description.js';
import { checkTranslate } from '../shared/checks.js';
import { dispose } from '../shared/platform.js';
import type { Use } from '../shared/protocol.js';
import { withMaps } from '../shared/results.js';
import type { Build, TranslateOptions, Translation, TranslatorInfo } from '../shared/types.js';
import { Model } from './sync-translator.js';
import { detectBuild, Instance } from './instance.js';
import type { NativeTranslator } from './native.js';

export interface EngineOptions {
  /** Default: the best that the machine can run. */
  build?: Build;
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

  get build(): Build {
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
    return JSON.parse(this.#instance.call(() => this.#instance.module.describe())) as Description;
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

/** Only a Translator can be aborted or compute `alignment` and `quality`. */
export type SyncOptions<Text> = Omit<TranslateOptions<Text>, 'signal' | 'alignment' | 'quality'>;

/** A Translator without a worker: translate() blocks until it is done. */
export class SyncTranslator extends Model<NativeTranslator> {
  readonly info: TranslatorInfo;

  /** @internal */
  constructor(instance: Instance, native: NativeTranslator, bytes: number) {
    super(instance, native);
    const info = JSON.parse(instance.call(() => native.info())) as Omit<TranslatorInfo, 'bytes' | 'build' | 'threads'>;
    this.info = { ...info, bytes, build: instance.build, threads: instance.threads };
  }

  /**
   * Like Translator.translate, but without the option signal, since nothing could abort it meanwhile.
   * @throws when an option is unknown or impossible, or a text is longer than the model allows
   */
  translate(text: string, options?: SyncOptions<string>): Translation;
  translate(text: readonly string[], options?: SyncOptions<string[]>): Translation[];
  translate(text: string | readonly string[], options: object = {}): Translation | Translation[] {
    if ('signal' in options) throw new Error('[translate] signal cannot abort a call that blocks; use a Translator');
    const { texts, search, onToken } = checkTranslate(text, options);
    const isOne = typeof text === 'string';
    const steps = this.steps(texts, search, onToken !== undefined);
    try {
      let step = steps.next();
      for (; !step.done; step = steps.next()) if (step.value) onToken?.(isOne ? step.value[0]! : step.value);
      const translations = withMaps<Translation[]>(step.value);
      return isOne ? translations[0]! : translations;
    } finally {
      steps.return([]);
    }
  }

  [dispose](): void {
    this.dispose();
  }
}
