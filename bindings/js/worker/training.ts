// A training run in the module, a step a call: what the worker does for Trainer.
import type { PlainEvent, PlainTranslation, PlainValidation, RunSettings, SearchOptions } from '../shared/protocol.js';
import type { Evaluation, Pair, TaskName, TrainerInfo, TrainingConfig } from '../shared/trainer-types.js';
import type { ModelConfig } from '../shared/types.js';
import { Model } from './model.js';
import type { Instance } from './module.js';
import { wellFormed, type NativeSteps, type NativeTrainingRun } from './native.js';

// Passes over a few pairs end so often that validating after each would take most of the time.
const leastStepsBetweenValidations = 20;

interface RunFacts extends Omit<TrainerInfo, 'config' | 'training' | 'task' | 'languages' | 'build' | 'threads'> {
  config: ModelConfig;
  /** Of the model and of its training. */
  settings: TrainingConfig;
}

export class Training extends Model<NativeTrainingRun> {
  /** Of this worker: spent on steps. */
  #seconds = 0;
  #isRunning = false;

  constructor(instance: Instance, run: NativeTrainingRun) {
    super(instance, run, factsOf(instance, run).config);
  }

  get info(): TrainerInfo {
    const { settings, ...facts } = factsOf(this.instance, this.native);
    const training = Object.fromEntries(Object.entries(settings).filter(([key]) => !(key in facts.config)));
    const { languages = '', task, training: _, ...metadata } = facts.metadata;
    return {
      ...facts,
      metadata,
      training: training as unknown as TrainingConfig,
      languages,
      ...(task && { task: task.split(',')[0] as TaskName }),
      build: this.instance.build,
      threads: this.instance.threads,
    };
  }

  /** Takes steps until a goal is reached; yields after each, and after each decoding step, an event where one is due. */
  *run(options: RunSettings): Generator<PlainEvent | undefined, void> {
    if (this.#isRunning) throw new Error('[train] run() is going on already; end it before the next');
    this.#isRunning = true;
    try {
      yield* this.#steps(options);
    } finally {
      this.#isRunning = false;
    }
  }

  *#steps(options: RunSettings): Generator<PlainEvent | undefined, void> {
    const { steps = Infinity, epochs = Infinity, minutes = Infinity, reportEvery, validateEvery, pinned } = options;
    let { step, epoch } = this.info;
    const goal = { step: step + steps, epoch: epoch + epochs, time: performance.now() + minutes * 60_000 };
    const isDone = () => step >= goal.step || epoch >= goal.epoch - 1e-9 || performance.now() >= goal.time;
    let validated = step;
    let [tokens, since] = [0, this.#seconds];
    while (!isDone()) {
      const begin = performance.now();
      const report = this.#call((run) => run.step());
      this.#seconds += (performance.now() - begin) / 1000;
      tokens += report.targetTokens;
      step++;
      epoch = this.#call((run) => run.epochs());
      const hasEnded = isDone();
      const isEpoch = Number.isInteger(epoch) && step - validated >= leastStepsBetweenValidations;
      const validates = hasEnded || (validateEvery ? step % validateEvery === 0 : isEpoch);
      const pins = pinned.length > 0 && (hasEnded || step % options.pinEvery === 0);
      if (!validates && !pins && step % reportEvery !== 0) {
        yield;
        continue;
      }
      const event: PlainEvent = {
        step,
        epoch,
        loss: this.#call((run) => run.takeMeanLoss()),
        learningRate: report.learningRate,
        gradientNorm: report.gradientNorm,
        tokensPerSecond: tokens / (this.#seconds - since),
        seconds: this.#seconds,
        memoryBytes: this.instance.memoryBytes,
      };
      [tokens, since] = [0, this.#seconds];
      if (validates) {
        validated = step;
        event.validation = yield* this.#validation(options);
      }
      if (pins) event.pinned = yield* this.#translations(pinned, { beamSize: 1, attention: true });
      yield event;
    }
  }

  *evaluate(pairs: readonly Pair[], options: SearchOptions): Generator<undefined, Evaluation> {
    const side = (i: 0 | 1) => pairs.map((pair) => wellFormed(pair[i]));
    const native = this.options({ beamSize: 1, ...options });
    const { targetTokens: _, ...evaluation } = yield* this.#all((run) => run.evaluate(side(0), side(1), native));
    return evaluation;
  }

  change(changes: object): TrainingConfig {
    this.#call((run) => run.change(JSON.stringify(changes)));
    return this.info.training;
  }

  /** The bytes of a checkpoint, or of the model alone. */
  save(withOptimizer: boolean, withData: boolean, metadata: Record<string, string>): Uint8Array<ArrayBuffer> {
    const more = JSON.stringify(metadata);
    const bytes = this.#call((run) => (withOptimizer ? run.checkpoint(more, withData) : run.modelFile(more)));
    return bytes as Uint8Array<ArrayBuffer>;
  }

  *#validation({ samples, attention }: RunSettings): Generator<undefined, PlainValidation> {
    const { loss, isBest, greedy } = yield* this.#all((run) => run.validate());
    const { bleu, chrf, exactMatch } = greedy;
    const both = this.#call((run) => run.samples(samples));
    const sources = both.slice(0, both.length / 2);
    const translations = yield* this.#translations(sources, { beamSize: 1, attention });
    return {
      loss,
      isBest,
      bleu,
      chrf,
      exactMatch,
      samples: sources.map((source, i) => ({
        source,
        reference: both[sources.length + i]!,
        translation: translations[i]!,
      })),
    };
  }

  *#translations(texts: readonly string[], options: SearchOptions): Generator<undefined, PlainTranslation[]> {
    const job = this.start(texts, options);
    try {
      while (job.step()) yield;
      return job.result();
    } finally {
      job.dispose();
    }
  }

  *#all<Result>(begin: (run: NativeTrainingRun) => NativeSteps<Result>): Generator<undefined, Result> {
    const job = this.instance.create(() => begin(this.native));
    try {
      while (this.instance.call(() => job.step())) yield;
      return this.instance.call(() => job.result());
    } finally {
      this.instance.delete(job);
    }
  }

  #call<T>(call: (run: NativeTrainingRun) => T): T {
    return this.instance.call(() => call(this.native));
  }
}

function factsOf(instance: Instance, run: NativeTrainingRun): RunFacts {
  return JSON.parse(instance.call(() => run.info())) as RunFacts;
}
