// A model in the module, and the work of translating and annotating with it.
import type { Job, Translator } from '../generated/module.js';
import { wellFormed } from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import type { Plain, Use } from '../shared/protocol.js';
import type { Annotation, Translation } from '../shared/types.js';
import type { Instance } from './instance.js';

/** @internal Yields after each call into the module: with `partials`, the texts so far if they have changed; otherwise undefined. */
export type DecodingSteps = Generator<string[] | undefined, Plain<Translation[]>>;

/** step() does a part of the work; result() once it has returned false, and once only. */
interface NativeJob<Result> {
  step(): boolean;
  result(): Result;
  delete(): void;
}

/** Model that translates or annotates: a loaded one, or that of a training run. */
export class Model<Native extends Pick<Translator, 'start' | 'annotate' | 'delete'>> {
  /** @internal */
  protected readonly instance: Instance;
  /** @internal Whether a text has the same translation, to the bit, alone and in any batch. */
  readonly isBatchInvariant: boolean;
  #native: Native | undefined;
  #isDisposed = false;
  /** Jobs that have not ended: a callback of theirs may dispose of the model. */
  #jobs = 0;

  /** @internal */
  constructor(instance: Instance, native: Native, isBatchInvariant = true) {
    this.instance = instance;
    this.isBatchInvariant = isBatchInvariant;
    this.#native = native;
  }

  /** @internal `options`: JSON. To be finished or ended by `return()` before the model is disposed of. */
  steps(texts: readonly string[], options: string, partials: boolean, first = 0): DecodingSteps {
    return this.decode((native) => native.start(texts.map(wellFormed), options, first), partials);
  }

  /** @internal Decodes one or more steps at a time. */
  protected *decode(begin: (native: Native) => Job, partials: boolean): DecodingSteps {
    const { instance } = this;
    const job = this.#open(begin);
    try {
      let last = '';
      for (let isActive = true; isActive;) {
        this.#checkUse();
        isActive = instance.call(() => (partials ? job.stepToken() : job.step()));
        const partial = partials ? instance.call(() => job.partial()) : [];
        const text = partial.join('\n');
        if (isActive || text !== last) yield text === last ? undefined : partial;
        last = text;
      }
      return instance.call(() => job.result()) as Plain<Translation[]>;
    } finally {
      this.#close(job);
    }
  }

  /** @internal Classes and tags of texts, a batch per step; `options`: JSON. */
  *annotate(texts: readonly string[], options: string, use: Use): Generator<undefined, Plain<Annotation[]>> {
    return yield* this.finish((native) => native.annotate(texts.map(wellFormed), options, use));
  }

  /** @internal The result of a job, after all of its steps. */
  protected *finish<Result>(begin: (native: Native) => NativeJob<Result>): Generator<undefined, Result> {
    const job = this.#open(begin);
    try {
      while (this.instance.call(() => job.step())) {
        yield;
        this.#checkUse();
      }
      return this.instance.call(() => job.result());
    } finally {
      this.#close(job);
    }
  }

  /** Frees it, when its last job has ended. May be called again. */
  dispose(): void {
    this.#isDisposed = true;
    this.#freeIfUnused();
  }

  /** @internal */
  get native(): Native {
    this.#checkUse();
    return this.#native!;
  }

  #checkUse(): void {
    if (this.#isDisposed) throw new WasmformerError('disposed', 'the model has been disposed of', { room: 'engine' });
  }

  #open<Own extends { delete(): void }>(begin: (native: Native) => Own): Own {
    const job = this.instance.create(() => begin(this.native));
    this.#jobs += 1;
    return job;
  }

  #close(job: { delete(): void }): void {
    this.instance.delete(job);
    this.#jobs -= 1;
    this.#freeIfUnused();
  }

  #freeIfUnused(): void {
    if (!this.#isDisposed || this.#jobs > 0 || !this.#native) return;
    this.instance.delete(this.#native);
    this.#native = undefined;
  }
}
