// The synchronous translator over the WebAssembly module: the worker uses it, and so do the tests.
// Nothing of the module's memory leaves it; every C++ object is deleted by dispose() or in a finally.
import { detectBuild, startModule } from './builds.js';
import { errorOf, FatalError } from './errors.js';
import { readHeader } from './header.js';
import {
  attentionKinds,
  type NativeJob,
  type NativeOptions,
  type NativeTrainingRequest,
  type NativeTranslator,
  type WasmModule,
  wellFormed,
} from './module.js';
import type { PlainTranslation, SearchOptions } from './protocol.js';
import { fromNative } from './results.js';
import { Training } from './training.js';
import type { AttentionHead, Build, ModelConfig, TranslatorInfo } from './types.js';

// One C++ job takes texts until it has this many rows (texts × beam) or characters: what a product needs to be
// fast, while the caches stay small.
const jobRows = 64;
const jobCharacters = 8000;

export class Engine {
  #module: WasmModule;
  #memory: WebAssembly.Memory;
  /** What translates: a loaded model, or that of a training run. */
  #model: Pick<NativeTranslator, 'start' | 'delete'> | undefined;
  #config: ModelConfig | undefined;
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

  /** Throws where the machine cannot run `build`, by default the best one that it can, or that many threads. */
  static async create(build: Build = detectBuild(), threads = 1): Promise<Engine> {
    const { module, memory } = await startModule(build, threads);
    return new Engine(build, threads, module, memory);
  }

  /** With one thread where the memory that several share is refused, as phones may refuse it. */
  static async createWithin(threads: number): Promise<Engine> {
    try {
      return await Engine.create(detectBuild(), threads);
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

  /** Takes the place of what was loaded before. Throws for anything but a model file. */
  load(file: Uint8Array): TranslatorInfo {
    this.dispose();
    const translator = this.#use(() => this.#module.load(file));
    this.#config = JSON.parse(this.run(() => translator.config())) as ModelConfig;
    return { ...readHeader(file), config: this.#config, build: this.build, threads: this.threads };
  }

  /** Takes the place of what was loaded before. Files that are not given are empty. */
  train(request: NativeTrainingRequest, model: Uint8Array, source: Uint8Array, target: Uint8Array): Training {
    this.dispose();
    const training = new Training(this, this.#use(() => this.#module.train(request, model, source, target)));
    this.#config = training.info.config;
    return training;
  }

  translate(texts: string[], options: SearchOptions = {}): PlainTranslation[] {
    const job = this.start(texts, options);
    try {
      while (job.step());
      return job.result();
    } finally {
      job.dispose();
    }
  }

  /** A job must be disposed of, and before the engine is. */
  start(texts: string[], options: SearchOptions = {}): Job {
    const native = this.options(options);
    const wanted = texts.map(wellFormed);
    // C++ draws differently for each text of a part; the next part needs another seed.
    const next = () => native.sampling && { ...native.sampling, seed: native.sampling.seed + nextPart++ };
    let nextPart = 0;
    const begin = (part: string[]) => this.own(() => this.#loaded().start(part, { ...native, sampling: next() }));
    return new Job(this, wanted, native, begin);
  }

  /** All options of the C++ side. Throws where the model cannot follow them. */
  options({ sampling, prefix = '', maskedSource = [], maskedHeads = [], ...search }: SearchOptions): NativeOptions {
    this.#loaded();
    checkHeads(maskedHeads, this.#config!);
    const native: NativeOptions = {
      ...this.run(() => this.#module.defaultOptions()),
      ...(sampling && { beamSize: 1, sampling: { ...this.run(() => this.#module.defaultSampling()), ...sampling } }),
      ...(typeof prefix === 'string' ? { prefix: wellFormed(prefix) } : { prefixIds: [...prefix] }),
      maskedSource: [...maskedSource],
      maskedHeads: maskedHeads.map((head) => ({ ...head, attention: attentionKinds.indexOf(head.attention) })),
      ...search,
    };
    checkLimits(native, this.#config!);
    return native;
  }

  dispose(): void {
    if (this.#model) this.release(this.#model);
    this.#model = undefined;
  }

  /** Calls into the module; what C++ throws becomes an Error with its sentence. */
  run<T>(call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      const error = errorOf(this.#module, thrown);
      this.#isBroken ||= error instanceof FatalError;
      throw error;
    }
  }

  release(object: { delete(): void }): void {
    if (!this.#isBroken) object.delete();
    this.#live--;
  }

  /** A C++ object, to be released. */
  own<T>(make: () => T): T {
    const object = this.run(make);
    this.#live++;
    return object;
  }

  #use<T extends Pick<NativeTranslator, 'start' | 'delete'>>(make: () => T): T {
    const model = this.own(make);
    this.#model = model;
    return model;
  }

  #loaded(): Pick<NativeTranslator, 'start'> {
    if (!this.#model) throw new Error('[engine] no model is loaded');
    return this.#model;
  }
}

/** Translates texts, part after part, one decoding step a call. */
export class Job {
  #engine: Engine;
  #parts: string[][];
  #begin: (part: string[]) => NativeJob;
  #current: NativeJob | undefined;
  #done: PlainTranslation[] = [];
  #withTop: boolean;

  constructor(engine: Engine, texts: string[], options: NativeOptions, begin: (part: string[]) => NativeJob) {
    this.#engine = engine;
    this.#parts = parts(texts, Math.max(1, Math.floor(jobRows / options.beamSize)));
    this.#begin = begin;
    this.#withTop = options.topTokens > 0;
  }

  /** Begins a part or takes a step in it; false when everything is translated. */
  step(): boolean {
    const current = this.#current;
    if (!current) {
      const part = this.#parts.shift();
      if (part) this.#current = this.#begin(part);
      return part !== undefined;
    }
    if (!this.#engine.run(() => current.step())) {
      this.#done.push(...this.#engine.run(() => current.result()).map((item) => fromNative(item, this.#withTop)));
      this.dispose();
    }
    return this.#current !== undefined || this.#parts.length > 0;
  }

  /** The best text so far of each input; '' where its turn has not come. */
  partial(): string[] {
    const current = this.#current;
    return [
      ...this.#done.map(({ text }) => text),
      ...(current ? this.#engine.run(() => current.partial()) : []),
      ...this.#parts.flatMap((part) => part.map(() => '')),
    ];
  }

  /** One translation an input; complete once step() has returned false. */
  result(): PlainTranslation[] {
    return this.#done;
  }

  dispose(): void {
    if (this.#current) this.#engine.release(this.#current);
    this.#current = undefined;
  }
}

function parts(texts: string[], most: number): string[][] {
  const all: string[][] = [];
  let characters = Infinity;
  for (const text of texts) {
    characters += text.length;
    if (characters > jobCharacters || all.at(-1)!.length === most) {
      all.push([]);
      characters = text.length;
    }
    all.at(-1)!.push(text);
  }
  return all;
}

function checkLimits({ nBest, beamSize, maxLength }: NativeOptions, { max_length }: ModelConfig): void {
  if (nBest > beamSize) throw new Error(`[translate] nBest is ${nBest}, but beamSize is ${beamSize}`);
  if (maxLength > max_length) {
    throw new Error(`[translate] maxLength is ${maxLength}, but the model's max_length is ${max_length}`);
  }
}

function checkHeads(heads: readonly AttentionHead[], config: ModelConfig): void {
  heads.forEach(({ attention, layer, head }, i) => {
    const layers = attention === 'encoder' ? config.encoder_layers : config.decoder_layers;
    if (layer < layers && head < config.num_heads) return;
    throw new Error(
      `[translate] maskedHeads[${i}] is layer ${layer}, head ${head}, but there are ${layers} layers of ` +
        `${config.num_heads} heads, counted from 0`,
    );
  });
}
