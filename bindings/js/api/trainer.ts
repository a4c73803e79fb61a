import { WasmformerError, WasmformerTypeError } from '../shared/errors.js';
import { withKeepOff } from '../shared/keep.js';
import type { Plain, Update } from '../shared/protocol.js';
import { eventWithMaps } from '../shared/results.js';
import type {
  RunChanges, EvaluateOptions, Evaluation, SentencePair, ResumeOptions, RunOptions, SaveOptions, TrainerInfo,
  TrainerOptions, TrainingConfig, TrainingEvent,
} from '../shared/trainer-types.js';
import type { Classification, ModelSource, Tagging } from '../shared/types.js';
import {
  checkChanges, checkPairs, checkRequest, checkSave, checkSignal, modelData,
} from './arguments.js';
import { shouldCache } from './storing.js';
import { openModel, RemoteTranslator, toAsyncGenerator } from './translator.js';

/**
 * Trains one model, in a worker.
 * @example
 * const trainer = await Trainer.create({ task: 'reverse' });
 * for await (const { step, loss } of trainer.run({ steps: 500 })) console.log(step, loss);
 * const file = await trainer.save({ optimizer: false }); // for Translator.load
 */
export class Trainer extends RemoteTranslator<TrainerInfo> {
  /**
   * As Classifier.classify, with the current weights of a model that is trained on labeled texts.
   * @throws also when the model is trained on other data
   */
  readonly classify = this.annotator<Classification>('classify');

  /**
   * As Tagger.tag, with the current weights of a model that is trained on tagged texts.
   * @throws also when the model is trained on other data
   */
  readonly tag = this.annotator<Tagging>('tag');

  /**
   * Begins a run. Nothing is trained until run().
   * @throws when an option is unknown or impossible, or the data has no usable pair
   */
  static async create(options: TrainerOptions): Promise<Trainer> {
    const site = new Error();
    const request = checkRequest('train', options, false);
    return Trainer.#open(request, request.from, site);
  }

  /**
   * Continues the run in a file of save(), or in the program's last.safetensors, with exactly the same numbers.
   * @throws when the file holds no run, or the data is not that of the run
   */
  static async resume(file: ModelSource, options: ResumeOptions = {}): Promise<Trainer> {
    const site = new Error();
    if (file === undefined) throw new WasmformerTypeError('load', 'the checkpoint is missing');
    return Trainer.#open(checkRequest('resume', options, true), file, site);
  }

  static async #open(
    { question, where, teacher, signal }: ReturnType<typeof checkRequest>,
    from: ModelSource | undefined,
    site: Error,
  ): Promise<Trainer> {
    const file = (source: ModelSource) => {
      const model = modelData(source, { precision: 'f32' });
      return { model, cache: shouldCache(model, undefined) ? {} : false };
    };
    const wanted = {
      ...question,
      ...(from === undefined ? { cache: false as const } : file(from)),
      ...(teacher !== undefined && { teacher: file(teacher) }),
    };
    return openModel('trainer', 'train', wanted, where, { signal }, site, (...made) => new Trainer(...made));
  }

  /**
   * Trains and yields progress events, until a goal is reached, the signal aborts, or the loop is left. Can be called
   * again.
   * @throws when the loss diverges; the weights are then those from before that step
   */
  run(options: RunOptions = {}): AsyncGenerator<TrainingEvent, void, undefined> {
    return this.#events(checkSignal('run', options), new Error());
  }

  async *#events(
    [{ signal }, options]: ReturnType<typeof checkSignal>,
    site: Error,
  ): AsyncGenerator<TrainingEvent, void, undefined> {
    type Numbered = [id: number, event: Plain<TrainingEvent>];
    const work = (push: (item: Numbered) => void, signal: AbortSignal) => {
      const onUpdate = (update: Update, id: number) => update.type === 'event' && push([id, update.event]);
      return this.connection.call('run', { options }, site, { signal, onUpdate, owner: this });
    };
    for await (const [id, event] of toAsyncGenerator(work, signal)) {
      this.connection.acknowledge(id);
      yield eventWithMaps(event);
    }
  }

  /**
   * Changes settings during a run, from the next step on; returns all of them.
   * @throws for a setting that a run cannot change (see RunChanges) or a value out of its range; nothing changes then
   */
  async change(changes: RunChanges): Promise<TrainingConfig> {
    return this.connection.call('change', { options: checkChanges(changes) }, new Error(), { owner: this });
  }

  /**
   * Translates the pairs with the current weights, by default greedily, and scores the result with BLEU
   * and chrF2 as sacreBLEU computes them.
   * @throws when there are no pairs, or a source is too long for the model
   */
  async evaluate(pairs: readonly SentencePair[], options: EvaluateOptions = {}): Promise<Evaluation> {
    const site = new Error();
    const [{ signal }, search] = checkSignal('evaluate', withKeepOff(options));
    const checked = checkPairs('evaluate', 'pairs', pairs);
    if (checked.length === 0) throw new WasmformerError('evaluate', 'pairs is empty; it needs at least one');
    return this.connection.call('evaluate', { pairs: checked, options: search }, site, { signal, owner: this });
  }

  /**
   * Makes a model file of the current weights, with the state that Trainer.resume and `wasmformer train --resume` need:
   * about three times the size of the weights alone. With `data: false`, resuming needs the texts again.
   * @throws when there is not enough memory
   */
  async save(options: SaveOptions = {}): Promise<Blob> {
    return (await this.checkpoint(options)).file;
  }

  /** Does what save() does, and says at which step the file was made, which may be after the last event. */
  async checkpoint(options: SaveOptions = {}): Promise<{ file: Blob; step: number }> {
    const site = new Error();
    const { signal, ...wanted } = checkSave(options);
    return this.connection.call('save', wanted, site, { signal, owner: this });
  }
}
