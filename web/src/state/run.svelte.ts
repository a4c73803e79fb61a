// A run of the Train view: a Trainer, and with it a worker, of its own; what it comes to is kept in the browser.
import { Trainer, type TrainingConfig, type TrainingEvent } from 'wasmformer';
import type { Experiment } from '../train/experiment';
import {
  add, cut, fromMetadata, intervals, newRecord, snapshotOf, toMetadata, totalSteps, WITHOUT_RECORD, type RunRecord,
} from '../train/record';
import { holdRun, keepRun, readRun } from '../train/store';
import { link } from './link.svelte';
import { models } from './models.svelte';
import { reason } from './settings.svelte';
import { translation } from './translation.svelte';

const SAVE_EVERY = 30_000; // ms
const PATIENCE = 120_000; // ms without a checkpoint after the loss has jumped
const BEST_EVERY = 5000; // ms between checkpoints for the sake of a better validation
const SAVE_SHARE = 20; // saving takes a twentieth of the time at most
const LOSABLE = 10_000; // ms of training that nobody is asked about before leaving
const SAMPLES = 5;
export const MOST_PINNED = 5;

export class Run {
  record = $state.raw<RunRecord>()!;
  /** 'stored': only in the browser's storage. 'failed': the loss went astray, or the worker died. */
  state = $state<'preparing' | 'running' | 'pausing' | 'paused' | 'stored' | 'over' | 'failed'>('stored');
  problem = $state('');
  /** Why it cannot be kept in this browser. */
  unkept = $state('');
  /** Another tab has it open, and would keep its own state over this one's. */
  isElsewhere = $state(false);
  /** The step that it can go back to; null before the first checkpoint. */
  savedStep = $state<number | null>(null);
  training = $state.raw<TrainingConfig | null>(null);
  /** Seconds that are left, where that can be told. */
  left = $state<number | null>(null);

  #trainer: Trainer | null = null;
  #wish: 'run' | 'pause' | 'stop' = 'run';
  #letGo: (() => void) | null = null; // for another tab
  #isGoing = false; // events come
  #isStale = false; // run() is to be called again, with other pinned sentences
  #creating: AbortController | null = null;
  #checkpoint: { file: Blob; record: RunRecord } | null = null;
  #saving: Promise<void> = Promise.resolve();
  #lastSave = 0;
  #nextSave = 0;
  #waiting: (() => void)[] = [];
  #secondsBefore = 0;
  /** Of the trainer, when it last told; events tell of an earlier one. */
  #step = 0;

  constructor(record?: RunRecord) {
    if (record) this.record = record;
    this.savedStep = record?.points.at(-1)?.step ?? (record ? 0 : null);
    if (record?.isOver) this.state = 'over';
  }

  get isBusy(): boolean {
    return this.state === 'running' || this.state === 'pausing' || this.state === 'preparing';
  }
  /** How much of the goal is reached, from 0 to 1. */
  get share(): number | null {
    const { goal, points, seconds } = this.record;
    const total = totalSteps(this.record);
    const shares = [total && (points.at(-1)?.step ?? 0) / total, goal.minutes && seconds / 60 / goal.minutes];
    return shares.find((share) => share !== null && share !== undefined) ?? null;
  }
  get canChange(): boolean {
    return this.training !== null;
  }
  get isUnsaved(): boolean {
    return this.state === 'running' && (this.unkept !== '' || performance.now() - this.#lastSave > LOSABLE);
  }

  /** Begins an experiment; false where that cannot be. */
  async begin(experiment: Experiment): Promise<boolean> {
    const { options } = experiment;
    this.record = newRecord(experiment, { parameters: 1, batchesPerEpoch: 1, training: { batch_tokens: 1 } }); // until it is known
    this.state = 'preparing';
    this.#creating = new AbortController();
    await new Promise((resolve) => setTimeout(resolve)); // drawing the run and starting a worker are a task each
    try {
      await this.#hold();
      const trainer = await Trainer.create({ ...options, signal: this.#creating.signal });
      const watched = Array.isArray(options.validation) ? [{ text: String(options.validation[0][0]), snapshots: [] }] : [];
      this.record = { ...newRecord(experiment, trainer.info), id: this.record.id, pinned: watched };
      this.#take(trainer);
    } catch (error) {
      if (!this.#creating.signal.aborted) this.#fail(error);
      return false;
    }
    await this.#train();
    return true;
  }

  /** Goes on, from the last checkpoint where the trainer is gone; `slower` divides the rate. */
  async goOn(slower = 1) {
    if (this.isBusy) return;
    const before = this.state;
    this.state = 'preparing';
    const { signal } = (this.#creating = new AbortController());
    try {
      this.isElsewhere = !(await this.#hold());
      if (this.isElsewhere) return void (this.state = before);
      this.problem = '';
      if (!this.#trainer) this.#take(await this.#open(signal));
      if (slower !== 1) await this.change({ learning_rate: this.training!.learning_rate / slower });
      if (this.record.isOver) await this.#extend();
    } catch (error) {
      return signal.aborted ? this.#close() : this.#fail(error);
    }
    await this.#train();
  }

  pause() {
    if (this.state !== 'running') return;
    this.#wish = 'pause';
    this.state = 'pausing';
  }

  /** Ends it and frees its worker; its model stays. */
  stop() {
    this.#creating?.abort();
    this.#wish = 'stop';
    if (this.state === 'running') this.state = 'pausing';
    else if (this.state === 'paused') this.#close();
  }

  /** From the next step on; the schedule goes on from there. A rate of 0 cannot be scaled, so that it stays constant. */
  async setRate(rate: number) {
    const now = this.record.points.at(-1)?.rate ?? 0;
    if (now > 0) await this.change({ learning_rate: (this.training!.learning_rate * rate) / now });
    else await this.change({ schedule: 'constant', learning_rate: rate });
  }

  async change(changes: Parameters<Trainer['change']>[0]) {
    this.training = await this.#trainer!.change(changes);
  }

  pin(text: string) {
    if (this.record.pinned.some((pin) => pin.text === text)) return;
    this.#setPinned([...this.record.pinned, { text, snapshots: [] }].slice(-MOST_PINNED));
  }

  unpin(text: string) {
    this.#setPinned(this.record.pinned.filter((pin) => pin.text !== text));
  }

  /** The model alone, to translate with. */
  async model(): Promise<File> {
    const trainer = this.#trainer ?? (await this.#open());
    try {
      return new File([await trainer.save({ optimizer: false })], `${this.record.name}.safetensors`);
    } finally {
      if (trainer !== this.#trainer) trainer.dispose();
    }
  }

  async openInTranslate() {
    await models.loadFile(await this.model());
    if (models.problem) return;
    const { pinned, samples } = this.record;
    translation.type(pinned[0]?.text ?? samples[0]?.source ?? translation.source, 0);
    location.hash = link.to('translate');
  }

  /** The whole run as one file, which the native program reads, too. */
  async file(): Promise<File> {
    const name = `${this.record.name}.run.safetensors`;
    const trainer = this.#trainer ?? (await this.#open());
    try {
      return new File([await trainer.save({ metadata: toMetadata(this.record) })], name);
    } finally {
      if (trainer !== this.#trainer) trainer.dispose();
    }
  }

  /** Takes the run in a file; rejects where there is none. */
  async read(file: File, taken: (id: string) => boolean) {
    const trainer = await Trainer.resume(file);
    const { info } = trainer;
    const goal = { epochs: Math.ceil(info.epoch) + 10 };
    const name = file.name.replace(/(\.run)?( \(\d+\))?\.safetensors$/, '');
    const fresh = newRecord({ name, metric: info.task ? 'exactMatch' : 'bleu', setup: null, goal }, info);
    const known = fromMetadata(info.metadata);
    if (known && !taken(known.id)) this.#letGo = await holdRun(known.id);
    this.record = cut({ ...fresh, ...known, id: this.#letGo ? known!.id : fresh.id, created: fresh.created }, info.step);
    await this.#hold();
    this.#take(trainer);
    this.state = this.record.isOver ? 'over' : 'paused';
    void this.save();
  }

  /** Keeps a checkpoint in the browser, after those that are on their way. */
  save(): Promise<void> {
    return (this.#saving = this.#saving.then(() => this.#save()).catch((error) => void (this.unkept = reason(error) || String((error as Error)?.name))));
  }

  dispose() {
    this.#wish = 'stop';
    this.#creating?.abort();
    this.#free();
  }

  async #hold(): Promise<boolean> {
    return !!(this.#letGo ??= await holdRun(this.record.id));
  }

  #take(trainer: Trainer) {
    this.#trainer = trainer;
    this.training = trainer.info.training;
    this.#step = trainer.info.step;
    this.#secondsBefore = this.record.seconds;
  }

  async #open(signal?: AbortSignal): Promise<Trainer> {
    await this.#saving;
    const kept = this.unkept ? this.#checkpoint : await readRun(this.record.id);
    if (!kept) throw new Error('its checkpoint is not in this browser any more');
    const { file, record } = kept;
    const trainer = await Trainer.resume(file, signal && { signal });
    // Another tab may have brought it further.
    this.record = cut(record.points.length > this.record.points.length ? record : this.record, trainer.info.step);
    this.savedStep = trainer.info.step;
    this.#checkpoint = { file, record: this.record };
    return trainer;
  }

  async #train() {
    this.#wish = 'run';
    this.state = 'running';
    this.record.isOver = false;
    try {
      if (this.savedStep === null) void this.save(); // so that there always is one to go back to
      while (this.#wish === 'run' && !this.record.isOver) {
        await this.#stretch();
        await this.save(); // which tells the step that the next stretch begins with
      }
    } catch (error) {
      return this.#fail(error);
    }
    if (this.record.isOver || (this.#wish as string) === 'stop') this.#close();
    else this.state = 'paused';
  }

  /** Trains until the goal, a wish, or another set of pinned sentences. */
  async #stretch() {
    const left = this.#remaining();
    if (!left) return void (this.record = { ...this.record, isOver: true });
    const stop = new AbortController();
    const pins = this.record.pinned.map(({ text }) => text);
    // A run() ends with a validation, whose first pair is watched from then on; of a task that takes no time.
    const isFirst = pins.length === 0 && this.record.points.length === 0 && this.record.metric === 'exactMatch';
    const goal = isFirst ? { steps: this.record.reportEvery } : left;
    let begin: { time: number; step: number } | undefined;
    this.#isStale = false;
    this.#isGoing = true;
    try {
      const { reportEvery } = this.record;
      const options = { ...goal, ...intervals(this.record), reportEvery, samples: SAMPLES, pinned: pins };
      for await (const event of this.#trainer!.run({ ...options, attention: pins.length === 0, signal: stop.signal })) {
        this.#on(event, pins);
        begin ??= { time: performance.now(), step: event.step };
        this.#estimate((performance.now() - begin.time) / 1000, event.step - begin.step);
        // Aborting at an event loses none.
        if (this.#wish !== 'run' || this.#isStale) stop.abort();
        else this.#saveIfDue(event.validation?.isBest ?? false);
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      this.#isGoing = false;
      for (const wake of this.#waiting.splice(0)) wake();
    }
    if (!stop.signal.aborted && !isFirst) this.record = { ...this.record, isOver: true };
  }

  #on(event: TrainingEvent, pins: readonly string[]) {
    add(this.record, event, this.#secondsBefore, pins);
    const sample = event.validation?.samples[0];
    if (sample && this.record.pinned.length === 0 && pins.length === 0) {
      this.record.pinned = [{ text: sample.source, snapshots: [snapshotOf(event.step, sample.translation)] }];
      this.#isStale = true;
    }
    this.record = { ...this.record };
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** What the goal leaves to be done; null when that is nothing. */
  #remaining() {
    const { goal, points, seconds } = this.record;
    const total = totalSteps(this.record);
    const steps = total === null ? undefined : total - Math.max(this.#step, points.at(-1)?.step ?? 0);
    const minutes = goal.minutes && goal.minutes - seconds / 60;
    const all = { steps, minutes };
    if (Object.values(all).some((left) => left !== undefined && left <= 1e-9)) return null;
    return Object.fromEntries(Object.entries(all).filter(([, left]) => left !== undefined)) as Experiment['goal'];
  }

  #estimate(seconds: number, steps: number) {
    const goal = this.#remaining() ?? {};
    const lefts = [goal.minutes && goal.minutes * 60, goal.steps && steps > 0 && (goal.steps / steps) * seconds].filter((left): left is number => !!left);
    this.left = lefts.length ? Math.min(...lefts) : null;
  }

  /** As much again; a rate that has come down to 0 comes up to where it would be on the way to the new end. */
  async #extend() {
    const { goal, batchesPerEpoch, seconds } = this.record;
    const steps = 2 * this.#step;
    this.record.goal = {
      ...(goal.steps && { steps }),
      ...(goal.epochs && { epochs: Math.ceil(steps / batchesPerEpoch) }),
      ...(goal.minutes && { minutes: goal.minutes + seconds / 60 }),
    };
    this.record.isOver = false;
    if (this.training!.schedule === 'cosine') await this.change({ decay_steps: Math.max(this.training!.decay_steps, steps) });
  }

  #setPinned(pinned: RunRecord['pinned']) {
    this.record = { ...this.record, pinned };
    this.#isStale = true;
    if (!this.isBusy) void this.save();
  }

  #saveIfDue(isBest: boolean) {
    const now = performance.now();
    const { points } = this.record;
    // A loss that has just jumped may be the beginning of the end; the state before it is the better one to go back to.
    const hasJumped = points.at(-1)!.loss > 2 * Math.min(...points.map(({ loss }) => loss)) + 0.5;
    if (hasJumped && now < this.#lastSave + PATIENCE) return;
    if (now < this.#nextSave && !(isBest && now > this.#lastSave + BEST_EVERY && this.#nextSave - this.#lastSave <= SAVE_EVERY)) return;
    this.#nextSave = Infinity;
    void this.save();
  }

  async #save() {
    if (!this.#trainer) return;
    const begin = performance.now();
    const { file, step } = await this.#trainer.checkpoint({ metadata: WITHOUT_RECORD });
    // The events of its steps may still be on their way.
    const reported = step - (step % this.record.reportEvery);
    while (this.#isGoing && (this.record.points.at(-1)?.step ?? 0) < reported) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const record = cut(this.record, step);
    this.#checkpoint = { file, record };
    this.#step = step;
    this.#lastSave = performance.now();
    this.#nextSave = this.#lastSave + Math.max(SAVE_EVERY, SAVE_SHARE * (this.#lastSave - begin));
    this.savedStep = step;
    await keepRun(record, file);
    this.unkept = '';
  }

  #fail(error: unknown) {
    this.problem = reason(error);
    this.#free();
    if (this.#checkpoint) this.record = this.#checkpoint.record;
    this.state = 'failed';
  }

  #free() {
    this.#trainer?.dispose();
    this.#letGo?.();
    this.#trainer = this.training = this.left = this.#letGo = null;
  }

  #close() {
    this.#free();
    this.state = this.record.isOver ? 'over' : 'stored';
  }
}
