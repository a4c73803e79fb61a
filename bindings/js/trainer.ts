import type { Connection } from './connection.js';
import type { PlainEvent, TrainRequest, Update } from './protocol.js';
import { fromPlain } from './results.js';
import { cacheOption, modelData } from './source.js';
import { dispose } from './symbol.js';
import { checkCreate, checkEvaluate, checkPairs, checkResume, checkRun, checkSave } from './trainer-options.js';
import type {
  Changes,
  EvaluateOptions,
  Evaluation,
  Pair,
  ResumeOptions,
  RunOptions,
  SaveOptions,
  TrainerInfo,
  TrainerOptions,
  TrainingConfig,
  TrainingEvent,
} from './trainer-types.js';
import type { ModelSource, TranslateOptions, Translation } from './types.js';
import { adopt, begin, closeNow, tell, translateOver } from './translating.js';

/** Trains one model, in a worker. */
export class Trainer {
  /** As the run was when it began here; events tell how far it is. */
  readonly info: TrainerInfo;
  #connection: Connection;

  private constructor(info: TrainerInfo, connection: Connection) {
    this.info = info;
    this.#connection = connection;
    adopt(this, connection);
  }

  /**
   * Begins a run. Nothing is trained until run().
   * @throws when an option is not known or not possible, or the data has no usable pair
   */
  static async create(options: TrainerOptions): Promise<Trainer> {
    const site = new Error();
    const { from, signal, threads, shareWith, ...rest } = checkCreate(options);
    return Trainer.#begin({ ...rest, resume: false }, from, { threads, shareWith, signal }, site);
  }

  /**
   * Goes on with the run in a file of save(), or in the program's last.safetensors, to the very same numbers.
   * @throws when the file is none of a run, or the data is not that of the run
   */
  static async resume(file: ModelSource, options: ResumeOptions = {}): Promise<Trainer> {
    const site = new Error();
    const { data, ...rest } = checkResume(options);
    return Trainer.#begin({ data, settings: { config: {} }, metadata: {}, resume: true }, file, rest, site);
  }

  static async #begin(
    request: Pick<TrainRequest, 'data' | 'settings' | 'metadata' | 'resume'>,
    from: ModelSource | undefined,
    { signal, ...where }: Pick<ResumeOptions, 'threads' | 'shareWith' | 'signal'>,
    site: Error,
  ): Promise<Trainer> {
    const model = from === undefined ? undefined : modelData(from);
    const cache = model !== undefined && cacheOption(model, undefined);
    const question = { type: 'train' as const, ...request, ...(model && { model }), cache };
    const { connection, info } = await begin<TrainRequest>('trainer', question, where, { signal }, site);
    return new Trainer(info, connection);
  }

  /**
   * Trains, and tells of it: until a goal is reached, the signal aborts, or the loop is left. Can be called again.
   * @throws when the loss goes astray; the weights may be spoiled then
   */
  run(options: RunOptions = {}): AsyncGenerator<TrainingEvent, void, undefined> {
    return this.#events(checkRun(options), options.signal, new Error());
  }

  async *#events(
    options: ReturnType<typeof checkRun>,
    signal: AbortSignal | undefined,
    site: Error,
  ): AsyncGenerator<TrainingEvent, void, undefined> {
    type Told = { id: number; event: PlainEvent };
    const work = (take: (told: Told) => void, signal: AbortSignal) => {
      const onUpdate = (update: Update) => update.type === 'event' && take(update);
      return this.#connection.call({ type: 'run', options }, site, { signal, onUpdate, owner: this });
    };
    for await (const { id, event } of tell(work, signal)) {
      this.#connection.seen(id);
      yield fromPlainEvent(event);
    }
  }

  /** Changes settings on the way, from the next step on; returns all of them. */
  async change(changes: Changes): Promise<TrainingConfig> {
    return (await this.#connection.call({ type: 'change', changes }, new Error(), { owner: this })).training;
  }

  /** Translates with the weights as they are, as Translator.translate does; between two steps of run(). */
  translate(text: string, options?: TranslateOptions<string>): Promise<Translation>;
  translate(text: readonly string[], options?: TranslateOptions<string[]>): Promise<Translation[]>;
  async translate(
    text: string | readonly string[],
    options: TranslateOptions<string> | TranslateOptions<string[]> = {},
  ): Promise<Translation | Translation[]> {
    return translateOver(this.#connection, this, text, options, new Error());
  }

  /** How well the weights as they are translate these pairs. */
  async evaluate(pairs: readonly Pair[], options: EvaluateOptions = {}): Promise<Evaluation> {
    const site = new Error();
    const { signal, ...search } = checkEvaluate(options);
    const question = { type: 'evaluate' as const, pairs: checkPairs('evaluate', 'pairs', pairs), options: search };
    return (await this.#connection.call(question, site, { signal, owner: this })).evaluation;
  }

  /** A model file of the weights as they are; with what Trainer.resume and `wasmformer train --resume` need. */
  async save(options: SaveOptions = {}): Promise<Blob> {
    return (await this.checkpoint(options)).file;
  }

  /** save(), and the step that the file stands at, of which no event may have told yet. */
  async checkpoint(options: SaveOptions = {}): Promise<{ file: Blob; step: number }> {
    const site = new Error();
    const { signal, ...wanted } = checkSave(options);
    const question = { type: 'save' as const, ...wanted };
    const { file, step } = await this.#connection.call(question, site, { signal, owner: this });
    return { file, step };
  }

  /** Frees the run, and ends the worker with its last model; calls that wait are rejected. May be called again. */
  dispose(): void {
    closeNow(this, this.#connection);
  }

  [dispose](): void {
    this.dispose();
  }
}

function fromPlainEvent({ validation, pinned, ...event }: PlainEvent): TrainingEvent {
  return {
    ...event,
    ...(validation && {
      validation: {
        ...validation,
        samples: validation.samples.map((sample) => ({ ...sample, translation: fromPlain(sample.translation) })),
      },
    }),
    ...(pinned && { pinned: pinned.map(fromPlain) }),
  };
}
