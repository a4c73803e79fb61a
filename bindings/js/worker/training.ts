// Training runs in the module, one step per call.
import { version } from '../generated/version.js';
import { wellFormed } from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import type {
  KnownText, RunSetup, RunReport, ShownOptions, TrainingLoop, TrainingRun, ValidationReport,
} from '../generated/module.js';
import type { AnnotatedText, GivenPairs, GivenTexts, Plain, TrainInput, Use } from '../shared/protocol.js';
import type {
  AnnotatedSample, Evaluation, SentencePair, TaskName, TrainerInfo, TrainingConfig, TrainingEvent, Validation,
} from '../shared/trainer-types.js';
import type { Annotation, Translation } from '../shared/types.js';
import { trainTokenizer } from './conversion.js';
import { Model } from './inference.js';
import type { Instance } from './instance.js';
import { createPause } from './scheduler.js';
import type { WorkerTranslator } from './worker-translator.js';

const none = new Uint8Array();

const wellFormedAll = (texts: readonly string[]) => texts.map(wellFormed);

function nativePairs({ pairs = [], tsv = '' }: GivenPairs) {
  const side = (i: 0 | 1) => pairs.map((pair) => wellFormed(pair[i]));
  return { file: wellFormed(tsv), sources: side(0), targets: side(1) };
}

function nativeAnnotated(given: string | readonly AnnotatedText[] = []) {
  if (typeof given === 'string') return { file: wellFormed(given), texts: [] };
  const texts = given.map(({ text, words, classes, tags }) => ({
    text: wellFormed(text),
    words: wellFormedAll(words),
    classes: wellFormedAll(classes),
    tags: wellFormedAll(tags),
  }));
  return { file: '', texts };
}

const nativeTexts = ({ corpora = [], labelled, tagged, mono = [] }: GivenTexts) => ({
  corpora: corpora.map(nativePairs),
  labelled: nativeAnnotated(labelled),
  tagged: nativeAnnotated(tagged),
  mono: wellFormedAll(mono),
});

/** A model whose translations are learned. */
export interface Teacher {
  /** To be disposed of by the caller. */
  translator: WorkerTranslator;
  /** Throws if the run is not wanted any more. */
  checkWanted(): void;
}

/** `model`: the bytes of the model to fine-tune or the checkpoint to resume, or none. */
export async function beginTraining(
  instance: Instance, input: TrainInput, model: Uint8Array, teacher?: Teacher,
): Promise<Training> {
  const { options, tokenizer } = input;
  const { source, target = none } = tokenizer ?? { source: none };
  const [texts, valid] = [nativeTexts(input.texts), nativeTexts(input.valid)];
  const { module, mostBytes } = instance;
  const translator = teacher?.translator.native ?? null;
  const setup = instance.create(() =>
    module.setUpRun(options, texts, valid, model, source, target, mostBytes, translator));
  try {
    if (teacher) await distil(instance, setup, teacher);
    const trained: Uint8Array[] = [];
    for (const job of instance.call(() => setup.untrained())) {
      trained.push(await trainTokenizer(job.sentences, job.options));
    }
    return new Training(instance, instance.create(() => setup.begin(trained)));
  } finally {
    instance.delete(setup);
  }
}

/** Lets the teacher of a run translate. Other calls go on meanwhile. */
async function distil(instance: Instance, setup: RunSetup, { checkWanted }: Teacher): Promise<void> {
  const work = instance.create(() => setup.distillation());
  const pause = createPause();
  try {
    while (instance.call(() => work.step())) {
      await pause();
      checkWanted();
    }
    instance.call(() => setup.take(work));
  } finally {
    instance.delete(work);
  }
}

function withReference({ text, classes, tags }: KnownText): Omit<Plain<AnnotatedSample>, 'annotation'> {
  const parts = [classes.join(','), tags.join(' ')].filter((part) => part !== '');
  return { source: text, reference: parts.join('\t'), labels: classes, tags };
}

export class Training extends Model<TrainingRun> {
  /** Spent on steps by this worker. */
  #seconds = 0;
  #isRunning = false;

  get info(): TrainerInfo {
    const { task, ...info } = this.#call((run) => run.info());
    return {
      ...info,
      task: task as TaskName | undefined,
      trainPairs: info.trainTexts,
      validationPairs: info.validationTexts,
      skippedPairs: info.skippedTexts,
      version,
      build: this.instance.build,
      threads: this.instance.threads,
    };
  }

  /** Takes steps until a goal is reached; yields after each, and after each decoding step, an event if one is due. */
  *run(options: string): Generator<Plain<TrainingEvent> | undefined, void> {
    if (this.#isRunning) throw new WasmformerError('train', 'run() is already in progress; end it before starting another');
    this.#isRunning = true;
    try {
      const loop = this.instance.create(() => this.native.loop(options));
      try {
        yield* this.#events(loop);
      } finally {
        this.instance.delete(loop);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  *#events(loop: TrainingLoop): Generator<Plain<TrainingEvent> | undefined, void> {
    const shown = this.instance.call(() => loop.options());
    const next = () => this.instance.call(() => loop.next());
    for (let event = next(); !event.isDone; event = next()) {
      this.#seconds += event.stepSeconds ?? 0;
      yield event.report && (yield* this.#event(event.report, shown));
    }
  }

  *#event(report: RunReport, shown: ShownOptions): Generator<undefined, Plain<TrainingEvent>> {
    const { units, stepSeconds, pins, validation, ...figures } = report;
    const event: Plain<TrainingEvent> = {
      ...figures,
      tokensPerSecond: units / stepSeconds,
      seconds: this.#seconds,
      memoryBytes: this.instance.memoryBytes,
    };
    if (validation) event.validation = yield* this.#validation(validation, shown);
    const use = pins ? this.#use : '';
    if (use === 'translate') event.pinned = yield* this.#translations(shown.pinned, true);
    else if (use) event.annotated = yield* this.#annotations(use, shown.pinned, { attention: true });
    return event;
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

  *#validation(
    { figures, loss, isBest }: ValidationReport, { samples, attention }: ShownOptions,
  ): Generator<undefined, Plain<Validation>> {
    const scores = { ...figures, loss, isBest };
    const use = this.#use;
    const known = use ? this.#call((run) => run.samples(samples)) : [];
    const texts = known.map(({ text }) => text);
    if (use === 'translate') {
      const translations = yield* this.#translations(texts, attention);
      const samples = known.map(({ text, translation }, i) =>
        ({ source: text, reference: translation, translation: translations[i]! }));
      return { ...scores, samples };
    }
    if (!use) return { ...scores, samples: [] };
    // The words of tagged texts are separated already.
    const hasWords = known.some(({ words }) => words.length > 0);
    const annotations = yield* this.#annotations(use, texts, { attention, ...(hasWords && { split: false }) });
    const annotated = known.map((text, i) => ({ ...withReference(text), annotation: annotations[i]! }));
    return { ...scores, samples: [], annotated };
  }

  #annotations(use: Use, texts: readonly string[], options: object): Generator<undefined, Plain<Annotation[]>> {
    return this.annotate(texts, JSON.stringify(options), use);
  }

  #translations(texts: readonly string[], attention: boolean) {
    const steps = this.decode((run) => run.startGreedy(texts.map(wellFormed), attention), false);
    return steps as Generator<undefined, Plain<Translation[]>>;
  }

  /** Use of the model; '' if it has none, such as one that fills masks. */
  get #use(): Use | '' {
    return this.#call((run) => run.use()) as Use | '';
  }

  #call<T>(call: (run: TrainingRun) => T): T {
    return this.instance.call(() => call(this.native));
  }
}
