// Training runs in the module, one step per call.
import { wellFormed } from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import type { GivenTexts, Plain, RunSettings, TrainInput } from '../shared/protocol.js';
import type { Evaluation, SentencePair, TrainerInfo, TrainingConfig, TrainingEvent, Validation } from '../shared/trainer-types.js';
import type { Annotation, Translation } from '../shared/types.js';
import { trainTokenizer } from './conversion.js';
import { Model } from './inference.js';
import type { Instance } from './instance.js';
import type { NativeTrainingRun } from './native.js';

// Passes over a few pairs end so often that validating after each would take most of the time. It depends on nothing but the
// step and the epoch, so that runs which were interrupted have the same events.
const leastStepsBetweenValidations = 20;
const isValidated = (step: number, epoch: number) =>
  Number.isInteger(epoch) && epoch % Math.ceil((leastStepsBetweenValidations * epoch) / step) === 0;

// The most memory that a build can have; a build with threads has half of it.
const mostBytes = (threads: number) => (threads > 1 ? 2 : 4) * 2 ** 30;
const none = new Uint8Array();

function nativeText(given: string | readonly SentencePair[] = [], file = '') {
  if (typeof given === 'string') return nativeText([], given);
  const side = (i: 0 | 1) => given.map((pair) => wellFormed(pair[i]));
  return { file: wellFormed(file), sources: side(0), targets: side(1) };
}

const nativeTexts = ({ pairs, tsv, labelled, tagged, mono }: GivenTexts) => ({
  pairs: nativeText(pairs, tsv),
  labelled: nativeText(labelled),
  tagged: nativeText(tagged),
  mono: nativeText(mono),
});

/** `model`: the bytes of the model to fine-tune or the checkpoint to resume, or none. */
export async function beginTraining(instance: Instance, input: TrainInput, model: Uint8Array): Promise<Training> {
  const { options, tokenizer } = input;
  const { source, target = none } = tokenizer ?? { source: none };
  const [texts, valid] = [nativeTexts(input.texts), nativeTexts(input.valid)];
  const { module, threads } = instance;
  const plan = instance.create(() =>
    module.planRun(options, texts, valid, model, source, target, mostBytes(threads)));
  try {
    const trained: Uint8Array[] = [];
    for (const job of instance.call(() => plan.untrained())) {
      trained.push(await trainTokenizer(job.sentences, job.options));
    }
    return new Training(instance, instance.create(() => plan.begin(trained)));
  } finally {
    instance.delete(plan);
  }
}

export class Training extends Model<NativeTrainingRun> {
  /** Spent on steps by this worker. */
  #seconds = 0;
  #isRunning = false;

  get info(): TrainerInfo {
    const { task, ...info } = JSON.parse(this.#call((run) => run.info())) as TrainerInfo;
    return { ...info, ...(task && { task }), build: this.instance.build, threads: this.instance.threads };
  }

  /** Takes steps until a goal is reached; yields after each, and after each decoding step, an event if one is due. */
  *run(options: string): Generator<Plain<TrainingEvent> | undefined, void> {
    if (this.#isRunning) throw new WasmformerError('train', 'run() is already in progress; end it before starting another');
    this.#isRunning = true;
    try {
      yield* this.#steps(JSON.parse(this.instance.call(() => this.instance.module.runOptions(options))));
    } finally {
      this.#isRunning = false;
    }
  }

  *#steps(options: RunSettings): Generator<Plain<TrainingEvent> | undefined, void> {
    const { steps = Infinity, epochs = Infinity, minutes = Infinity, reportEvery, validateEvery, pinned } = options;
    let { step, epoch } = this.info;
    const goal = { step: step + steps, epoch: epoch + epochs, time: performance.now() + minutes * 60_000 };
    const isDone = () => step >= goal.step || epoch >= goal.epoch - 1e-9 || performance.now() >= goal.time;
    let [tokens, since, hasEnded] = [0, this.#seconds, isDone()];
    while (!hasEnded) { // asked once per step, so that the last one is validated
      const begin = performance.now();
      const report = this.#call((run) => run.step());
      this.#seconds += (performance.now() - begin) / 1000;
      tokens += report.targetTokens;
      step++;
      epoch = this.#call((run) => run.epochs());
      hasEnded = isDone();
      const validates = hasEnded || (validateEvery ? step % validateEvery === 0 : isValidated(step, epoch));
      const pins = pinned.length > 0 && (hasEnded || step % options.pinEvery === 0);
      if (!validates && !pins && step % reportEvery !== 0) {
        yield;
        continue;
      }
      const event: Plain<TrainingEvent> = {
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
      if (validates) event.validation = yield* this.#validation(options);
      if (pins && this.#isEncoder) event.annotated = yield* this.#annotations(pinned, { attention: true });
      else if (pins) event.pinned = yield* this.#translations(pinned, true);
      yield event;
    }
  }

  *evaluate(pairs: readonly SentencePair[], options: string): Generator<undefined, Evaluation> {
    const side = (i: 0 | 1) => pairs.map((pair) => wellFormed(pair[i]));
    const { targetTokens: _, ...evaluation } = yield* this.finish((run) => run.evaluate(side(0), side(1), options));
    return evaluation;
  }

  /** `changes`: JSON. */
  change(changes: string): TrainingConfig {
    this.#call((run) => run.change(changes));
    return this.info.training;
  }

  /** The bytes of a checkpoint, or of the model alone. */
  save(withOptimizer: boolean, withData: boolean, metadata: Record<string, string>): Uint8Array<ArrayBuffer> {
    const more = JSON.stringify(metadata);
    const bytes = this.#call((run) => (withOptimizer ? run.checkpoint(more, withData) : run.modelFile(more)));
    return bytes as Uint8Array<ArrayBuffer>;
  }

  *#validation({ samples, attention }: RunSettings): Generator<undefined, Plain<Validation>> {
    const scores = JSON.parse(yield* this.finish((run) => run.validate())) as Omit<Validation, 'samples'>;
    const both = this.#call((run) => run.samples(samples));
    const sources = both.slice(0, both.length / 2);
    const sample = (i: number) => ({ source: sources[i]!, reference: both[sources.length + i]! });
    if (!this.#isEncoder) {
      const translations = yield* this.#translations(sources, attention);
      return { ...scores, samples: translations.map((translation, i) => ({ ...sample(i), translation })) };
    }
    const { classes = [], tags = [] } = this.info;
    if (classes.length + tags.length === 0) return { ...scores, samples: [] };
    // The words of tagged texts are separated already.
    const annotations = yield* this.#annotations(sources, { attention, ...(tags.length > 0 && { split: false }) });
    return { ...scores, samples: [], annotated: annotations.map((annotation, i) => ({ ...sample(i), annotation })) };
  }

  get #isEncoder(): boolean {
    return this.info.classes !== undefined;
  }

  #annotations(texts: readonly string[], options: object): Generator<undefined, Plain<Annotation[]>> {
    return this.annotate(texts, JSON.stringify(options), this.info.classes?.length ? 'classify' : 'tag');
  }

  #translations(texts: readonly string[], attention: boolean) {
    const steps = this.decode((run) => run.startGreedy(texts.map(wellFormed), attention), false);
    return steps as Generator<undefined, Plain<Translation[]>>;
  }

  #call<T>(call: (run: NativeTrainingRun) => T): T {
    return this.instance.call(() => call(this.native));
  }
}
