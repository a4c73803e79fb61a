// A run of the Train view: carries out what the reducer of run-reducer.ts decides, with a Trainer, and with it a
// worker, of its own, and with the browser's storage.
import { Trainer, type TrainingEvent } from 'wasmformer';
import { shortName } from './differences';
import type { Experiment } from './experiment';
import {
  cut,
  fromMetadata,
  intervals,
  nameOfRun,
  newRecord,
  toMetadata,
  WITHOUT_RECORD,
  type RunRecord,
} from './record';
import {
  isBusy,
  isUnsaved,
  newState,
  preparedFor,
  reduce,
  renamed,
  share,
  type Effect,
  type RunEvent,
  type RunState,
  type Stretch,
} from './run-reducer';
import { metricOf, runTask } from './run-tasks';
import { changeRun, holdRun, keepRun, readRun } from './store';
import { createEncoders, type Encoders } from '../models/encoders.svelte';
import { createUrlState, type UrlState } from '../shell/url-state.svelte';
import { createModels, type Models } from '../models/models.svelte';
import { createSpeed, type Speed } from './speed.svelte';
import { PageError, reason, type Reason } from '../shared/words/reason';
import { createTranslation, type TranslationStore } from '../translate/translation.svelte';
import type { Stores } from '../shared/stores.svelte';

const errorOf = ({ code, text, details }: Reason) => new PageError(code, text, details);

const WARM = 3; // seconds of training before its pace means anything

/** Objects that a run uses besides its trainer: those that open its model, and the one that learns from its speed. */
export interface RunSurroundings {
  encoders: Encoders;
  models: Models;
  speed: Speed;
  translation: TranslationStore;
  urlState: UrlState;
}

export class Run {
  readonly #surroundings: RunSurroundings;
  #now = $state.raw<RunState>()!;
  #trainer: Trainer | null = null;
  #letGo: (() => void) | null = null; // for another tab
  #creating: AbortController | null = null;
  #stop: AbortController | null = null; // of the stretch
  #file: Blob | null = null; // of the last checkpoint
  #saving: Promise<void> = Promise.resolve();
  #waiting: (() => void)[] = []; // for the next event

  constructor(surroundings: RunSurroundings, record?: RunRecord) {
    this.#surroundings = surroundings;
    if (record) this.#now = newState(record, true);
  }

  get now(): RunState {
    return this.#now;
  }
  get record(): RunRecord {
    return this.#now.record;
  }
  get isBusy(): boolean {
    return isBusy(this.#now);
  }
  get share(): number | null {
    return share(this.#now);
  }
  get isUnsaved(): boolean {
    return isUnsaved(this.#now, performance.now());
  }

  /** Begins an experiment; false where it was stopped before it began. */
  async begin(experiment: Experiment): Promise<boolean> {
    this.#now = preparedFor(experiment);
    await this.#dispatch({ type: 'begin', experiment });
    return this.#now.savedStep !== null || this.#now.status !== 'stored';
  }

  /** Goes on, from the last checkpoint where the trainer is gone; `slower` divides the rate. */
  goOn(slower = 1) {
    return this.#dispatch({ type: 'goOn', slower });
  }

  pause() {
    void this.#dispatch({ type: 'pause' });
  }

  /** Ends it and frees its worker; its model stays. */
  stop() {
    this.#creating?.abort();
    void this.#dispatch({ type: 'stop' });
  }

  pin(text: string) {
    void this.#dispatch({ type: 'pin', text });
  }

  unpin(text: string) {
    void this.#dispatch({ type: 'unpin', text });
  }

  /** Gives it a name of the visitor's, which is kept with it; '' takes that away. */
  async rename(name: string) {
    await this.#dispatch({ type: 'named', name });
    // After the checkpoints on their way, which have the name before, and ahead of later ones.
    const change = () => changeRun(this.record.id, (record) => renamed(record, name));
    const failed = (error: unknown) => this.#dispatch({ type: 'unkept', reason: reason(error) });
    await (this.#saving = this.#saving.then(change).catch(failed));
  }

  /** From the next step on; the schedule goes on from there. A rate of 0 has no scale, so the new one is constant. */
  async setRate(rate: number) {
    const now = this.record.points.at(-1)?.rate ?? 0;
    const { learning_rate } = this.#now.training!;
    await this.#change(
      now > 0 ? { learning_rate: (learning_rate * rate) / now } : { schedule: 'constant', learning_rate: rate },
    );
  }

  /** The model alone, to translate with. */
  model(): Promise<File> {
    return this.#given(`${shortName(nameOfRun(this.record))}.safetensors`, { optimizer: false });
  }

  /** The whole run as one file, which the native program reads, too. */
  file(): Promise<File> {
    return this.#given(`${shortName(nameOfRun(this.record))}.run.safetensors`, { metadata: toMetadata(this.record) });
  }

  async #given(name: string, options: Parameters<Trainer['save']>[0]): Promise<File> {
    const trainer = this.#trainer ?? (await this.#resumed()).trainer;
    try {
      return new File([await trainer.save(options)], name);
    } finally {
      if (trainer !== this.#trainer) trainer.dispose();
    }
  }

  /** Opens its model in the view that uses such models. */
  async open() {
    const { encoders, models, translation, urlState } = this.#surroundings;
    if (runTask(this.record).view === 'classify') {
      urlState.set({ input: null });
      if (await encoders.take(await this.model())) location.hash = urlState.to('classify');
      else if (encoders.problem) throw errorOf(encoders.problem);
      return;
    }
    await models.loadFile(await this.model());
    if (models.problem) return;
    const { pinned, samples } = this.record;
    translation.type(pinned[0]?.text ?? samples[0]?.source ?? translation.source, 0);
    location.hash = urlState.to('translate');
  }

  /** Opens the run in a file; rejects if the file has none. */
  async read(file: File, taken: (id: string) => boolean) {
    const trainer = await Trainer.resume(file);
    const { info } = trainer;
    const goal = { epochs: Math.ceil(info.epoch) + 10 };
    const name = file.name.replace(/(\.run)?( \(\d+\))?\.safetensors$/, '');
    const fresh = newRecord({ name, metric: metricOf(info), setup: null, goal }, info);
    const known = fromMetadata(info.metadata);
    if (known && !taken(known.id)) this.#letGo = await holdRun(known.id);
    const id = this.#letGo ? known!.id : fresh.id;
    const record = cut({ ...fresh, ...known, id, created: fresh.created }, info.step);
    this.#now = newState(record);
    await this.#hold();
    this.#trainer = trainer;
    void this.#dispatch({ type: 'opened', info, record, isIdle: true });
  }

  /** Keeps a checkpoint in the browser, after those that are on their way. */
  save(): Promise<void> {
    const failed = (error: unknown) =>
      this.#dispatch({ type: 'unkept', reason: reason(error) });
    return (this.#saving = this.#saving.then(() => this.#save()).catch(failed));
  }

  dispose() {
    this.#creating?.abort();
    this.stop();
    this.#free();
  }

  #dispatch(event: RunEvent): Promise<void> {
    const { state, effects } = reduce(this.#now, event);
    this.#now = state;
    for (const wake of this.#waiting.splice(0)) wake();
    return this.#perform(effects);
  }

  async #perform(effects: readonly Effect[]): Promise<void> {
    try {
      for (const effect of effects) await this.#do(effect);
    } catch (error) {
      const isAborted = this.#creating?.signal.aborted && this.#now.status === 'preparing';
      await this.#dispatch(isAborted ? { type: 'abandoned' } : { type: 'failed', reason: reason(error) });
    }
  }

  async #do(effect: Effect): Promise<void> {
    switch (effect.type) {
      case 'create':
        return this.#create(effect.experiment);
      case 'open':
        return this.#open(effect);
      case 'change':
        return this.#change(effect.changes);
      case 'train':
        return this.#train(effect.stretch);
      case 'interrupt':
        return this.#stop?.abort();
      case 'save':
        return this.save();
      case 'settle':
        return this.#dispatch({ type: 'settled' });
      case 'free':
        return this.#free();
    }
  }

  async #create(experiment: Experiment) {
    const { options } = experiment;
    const { signal } = (this.#creating = new AbortController());
    await new Promise((resolve) => setTimeout(resolve)); // drawing the run and starting a worker are a task each
    await this.#hold();
    const trainer = (this.#trainer = await Trainer.create({ ...options, signal }));
    const watched = experiment.watch ?? (Array.isArray(options.validation) ? String(options.validation[0][0]) : '');
    const pinned = watched === '' ? [] : [{ text: watched, snapshots: [] }];
    const { id, ownName } = this.record; // which may have been named meanwhile
    const record = { ...newRecord(experiment, trainer.info), id, ownName, pinned };
    await this.#dispatch({ type: 'opened', info: trainer.info, record });
    await this.#dispatch({ type: 'start' });
  }

  async #open({ slower, before }: Extract<Effect, { type: 'open' }>) {
    const { signal } = (this.#creating = new AbortController());
    if (!(await this.#hold())) return this.#dispatch({ type: 'elsewhere', before });
    const wasOver = this.record.isOver; // as this tab showed it; another one may have finished it meanwhile
    if (!this.#trainer) {
      const { trainer, record } = await this.#resumed(signal);
      this.#trainer = trainer;
      await this.#dispatch({ type: 'opened', info: trainer.info, record, isSaved: true });
    }
    if (slower !== 1) await this.#change({ learning_rate: this.#now.training!.learning_rate / slower });
    if (wasOver && this.record.isOver) await this.#dispatch({ type: 'extend' });
    await this.#dispatch({ type: 'start' });
  }

  async #change(changes: Parameters<Trainer['change']>[0]) {
    await this.#dispatch({ type: 'changed', training: await this.#trainer!.change(changes) });
  }

  /** The trainer of the last checkpoint, which another tab may have brought further. */
  async #resumed(signal?: AbortSignal): Promise<{ trainer: Trainer; record: RunRecord }> {
    await this.#saving;
    const { unkept, checkpoint, record } = this.#now;
    const kept =
      (unkept ? null : await readRun(record.id)) ?? (this.#file && { file: this.#file, record: checkpoint! });
    if (!kept) throw new PageError('checkpoint-gone', 'its checkpoint is no longer in this browser');
    const trainer = await Trainer.resume(kept.file, signal && { signal });
    const longest = kept.record.points.length > record.points.length ? kept.record : record;
    this.#file = kept.file;
    return { trainer, record: cut(longest, trainer.info.step) };
  }

  async #train({ goal, pins }: Stretch) {
    const { signal } = (this.#stop = new AbortController());
    const { reportEvery } = this.record;
    const { samples, hasAttention } = runTask(this.record);
    const options = {
      ...goal,
      ...intervals(this.record),
      reportEvery,
      pinned: pins,
      samples,
      ...(hasAttention && { attention: pins.length === 0 }),
    };
    let first: TrainingEvent | undefined;
    let last: TrainingEvent | undefined;
    try {
      for await (const event of this.#trainer!.run({ ...options, signal })) {
        first ??= event;
        last = event;
        void this.#dispatch({ type: 'reported', event, now: performance.now() });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (first && last) this.#learnPace(last.step - first.step, last.seconds - first.seconds);
    await this.#dispatch({ type: 'stretched', isAborted: signal.aborted });
  }

  /** A stretch's speed predicts how long other runs take; earlier stretches may be another computer's. */
  #learnPace(steps: number, seconds: number) {
    const {
      record: { parameters },
      training,
    } = this.#now;
    if (training && seconds > WARM) this.#surroundings.speed.learn({ parameters, training }, steps, seconds);
  }

  async #save() {
    if (!this.#trainer) return;
    const begin = performance.now();
    const { file, step } = await this.#trainer.checkpoint({ metadata: WITHOUT_RECORD });
    // The events of its steps may still be on their way.
    const reported = step - (step % this.record.reportEvery);
    const isLate = () => this.#now.stretch && (this.record.points.at(-1)?.step ?? 0) < reported;
    while (isLate()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (!this.#trainer) return; // the run has failed, and the events will not come
    const now = performance.now();
    this.#file = file;
    await this.#dispatch({ type: 'saved', step, now, took: now - begin });
    await keepRun(this.#now.checkpoint!, file);
    await this.#dispatch({ type: 'kept' });
  }

  async #hold(): Promise<boolean> {
    return !!(this.#letGo ??= await holdRun(this.record.id));
  }

  #free() {
    this.#trainer?.dispose();
    this.#letGo?.();
    this.#trainer = this.#letGo = null;
  }
}

/** Makes runs, one from each record, or one that is yet to begin. */
export function runMaker(stores: Stores) {
  const surroundings: RunSurroundings = {
    encoders: stores.get(createEncoders),
    models: stores.get(createModels),
    speed: stores.get(createSpeed),
    translation: stores.get(createTranslation),
    urlState: stores.get(createUrlState),
  };
  return (record?: RunRecord) => new Run(surroundings, record);
}
