// A model in the module, and the jobs that translate with it.
import type { PlainTranslation, SearchOptions } from '../shared/protocol.js';
import type { AttentionHead, BeamNode, Hypothesis, ModelConfig } from '../shared/types.js';
import type { Instance } from './module.js';
import {
  attentionKinds, type NativeBeamNode, type NativeHypothesis, type NativeJob, type NativeOptions,
  type NativeTranslation, type NativeTranslator, wellFormed,
} from './native.js';

// One C++ job takes texts until it has this many rows (texts × beam) or characters: what a product needs to be
// fast, while the caches stay small.
const jobRows = 64;
const jobCharacters = 8000;

/** What translates: a loaded model, or that of a training run. */
export class Model<Native extends Pick<NativeTranslator, 'start' | 'delete'>> {
  /** @internal */
  protected readonly instance: Instance;
  readonly config: ModelConfig;
  #native: Native | undefined;

  /** @internal */
  constructor(instance: Instance, native: Native, config: ModelConfig) {
    this.instance = instance;
    this.#native = native;
    this.config = config;
  }

  /** @internal A job must be disposed of, and before the model is. */
  start(texts: readonly string[], options: SearchOptions = {}): Job {
    const native = this.options(options);
    const wanted = texts.map(wellFormed);
    // C++ draws differently for each text of a part; the next part needs another seed.
    const next = () => native.sampling && { ...native.sampling, seed: native.sampling.seed + nextPart++ };
    let nextPart = 0;
    const begin = (part: string[]) => this.instance.create(() => this.native.start(part, { ...native, sampling: next() }));
    return new Job(this.instance, wanted, native, begin);
  }

  /** @internal All options of the C++ side. Throws where the model cannot follow them. */
  options({ sampling, prefix = '', maskedSource = [], maskedHeads = [], ...search }: SearchOptions): NativeOptions {
    checkHeads(maskedHeads, this.config);
    const native: NativeOptions = {
      ...this.instance.call(() => this.instance.module.defaultOptions()),
      ...(sampling && { beamSize: 1, sampling: { ...this.instance.call(() => this.instance.module.defaultSampling()), ...sampling } }),
      ...(typeof prefix === 'string' ? { prefix: wellFormed(prefix) } : { prefixIds: [...prefix] }),
      maskedSource: [...maskedSource],
      maskedHeads: maskedHeads.map((head) => ({ ...head, attention: attentionKinds.indexOf(head.attention) })),
      ...search,
    };
    checkLimits(native, this.config);
    return native;
  }

  /** Frees it. May be called again. */
  dispose(): void {
    if (this.#native) this.instance.delete(this.#native);
    this.#native = undefined;
  }

  /** @internal */
  protected get native(): Native {
    if (!this.#native) throw new Error('[engine] the model has been disposed of');
    return this.#native;
  }
}

/** Translates texts, part after part, one decoding step a call. */
export class Job {
  #instance: Instance;
  #parts: string[][];
  #begin: (part: string[]) => NativeJob;
  #current: NativeJob | undefined;
  #done: PlainTranslation[] = [];
  #withTop: boolean;

  /** @internal */
  constructor(instance: Instance, texts: string[], options: NativeOptions, begin: (part: string[]) => NativeJob) {
    this.#instance = instance;
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
    if (!this.#instance.call(() => current.step())) {
      this.#done.push(...this.#instance.call(() => current.result()).map((item) => fromNative(item, this.#withTop)));
      this.dispose();
    }
    return this.#current !== undefined || this.#parts.length > 0;
  }

  /** All steps that are left: yields after each, with `partials` the texts so far where they are new. */
  *steps(partials: boolean): Generator<string[] | undefined, void> {
    let shown = '';
    for (let goesOn = true; goesOn;) {
      goesOn = this.step();
      const partial = partials ? this.partial() : [];
      const isNew = partial.join('\n') !== shown;
      shown = partial.join('\n');
      if (goesOn || isNew) yield isNew ? partial : undefined;
    }
  }

  /** The best text so far of each input; '' where its turn has not come. */
  partial(): string[] {
    const current = this.#current;
    return [
      ...this.#done.map(({ text }) => text),
      ...(current ? this.#instance.call(() => current.partial()) : []),
      ...this.#parts.flatMap((part) => part.map(() => '')),
    ];
  }

  /** One translation an input; complete once step() has returned false. */
  result(): PlainTranslation[] {
    return this.#done;
  }

  dispose(): void {
    if (this.#current) this.#instance.delete(this.#current);
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
      `[translate] maskedHeads[${i}] is layer ${layer}, head ${head}, but there are ${layers} layers of `
      + `${config.num_heads} heads, counted from 0`,
    );
  });
}

function hypothesis({ text, score, targetTokens }: NativeHypothesis, withTop: boolean): Hypothesis {
  return {
    text,
    score,
    targetTokens: targetTokens.map(({ top, ...token }) => (withTop ? { ...token, top } : token)),
  };
}

// In the order of Fate in src/decode/search.h.
const fates: Pick<BeamNode, 'state' | 'reason'>[] = [
  { state: 'kept' },
  { state: 'ended' },
  { state: 'pruned', reason: 'beam' },
  { state: 'pruned', reason: 'score' },
  { state: 'pruned', reason: 'finished' },
];

function beamNode({ fate, hypothesis, ...node }: NativeBeamNode): BeamNode {
  return { ...node, ...fates[fate]!, ...(hypothesis >= 0 && { hypothesis }) };
}

function fromNative(native: NativeTranslation, withTop: boolean): PlainTranslation {
  const { encoder, decoder, cross, beam, internals } = native;
  return {
    ...hypothesis(native, withTop),
    sourceTokens: native.sourceTokens.map(({ piece, id }) => ({ piece, id })),
    alternatives: native.alternatives.map((item) => hypothesis(item, withTop)),
    ...(encoder && decoder && cross && { attention: { encoder, decoder, cross } }),
    ...(beam.length > 0 && { beam: beam.map(beamNode) }),
    ...(internals && { internals }),
  };
}
