// A training run as a reducer: each event gives the next state and the effects to carry out. It knows no Trainer, no
// clock and no storage (training-run.svelte.ts does), so it can be tested without them.
import type { Reason } from '../shared/words/reason';
import type { Trainer, TrainerInfo, TrainingConfig, TrainingEvent } from 'wasmformer';
import type { Experiment } from './experiment';
import { add, cut, newRecord, snapshotOf, totalMinutes, totalSteps, type RunRecord } from './record';
import { runTask } from './run-tasks';
import { comesToZero } from './schedules';

const SAVE_EVERY = 30_000; // ms
const PATIENCE = 120_000; // ms without a checkpoint after the loss has jumped
const BEST_EVERY = 5000; // ms between checkpoints for the sake of a better validation
const SAVE_SHARE = 20; // saving takes a twentieth of the time at most
const LOSABLE = 10_000; // ms of training that nobody is asked about before leaving
export const MOST_PINNED = 5;

/** One call of Trainer.run(). */
export interface Stretch {
  goal: Experiment['goal'];
  pins: string[];
  /** It ends soon, with the validation whose first pair is watched from then on. */
  isFirst: boolean;
  /** Its first report, from which the time left is estimated. */
  begin: { now: number; step: number } | null;
}

export interface RunState {
  record: RunRecord;
  /** 'stored': only in the browser's storage. 'failed': the loss diverged, or the worker died. */
  status: 'preparing' | 'running' | 'pausing' | 'paused' | 'stored' | 'over' | 'failed';
  wish: 'run' | 'pause' | 'stop';
  problem: Reason | '';
  /** Why it cannot be kept in this browser. */
  unkept: Reason | '';
  /** Another tab has it open, and would overwrite what this one saves. */
  isElsewhere: boolean;
  /** The step that it can go back to; null before the first checkpoint. */
  savedStep: number | null;
  /** The settings that the trainer uses; null before it has started. */
  training: TrainingConfig | null;
  /** Seconds, if known. */
  left: number | null;
  /** Stretch that the trainer is running; null between two stretches. */
  stretch: Stretch | null;
  /** The record at the last checkpoint that this page made or opened. */
  checkpoint: RunRecord | null;
  /** Step of the trainer when it was last asked; its events report earlier steps. */
  step: number;
  secondsBefore: number;
  lastSave: number;
  nextSave: number;
}

export type RunEvent =
  | { type: 'begin'; experiment: Experiment }
  | { type: 'goOn'; slower: number }
  | { type: 'elsewhere'; before: RunState['status'] }
  /** There is a trainer, from a checkpoint or new; one that is idle waits to be told to go on. */
  | { type: 'opened'; info: TrainerInfo; record: RunRecord; isSaved?: boolean; isIdle?: boolean }
  /** A finished run continues for as long again. */
  | { type: 'extend' }
  | { type: 'start' }
  | { type: 'changed'; training: TrainingConfig }
  | { type: 'reported'; event: TrainingEvent; now: number }
  | { type: 'stretched'; isAborted: boolean }
  | { type: 'settled' }
  | { type: 'saved'; step: number; now: number; took: number }
  | { type: 'kept' }
  | { type: 'unkept'; reason: Reason }
  | { type: 'pause' }
  | { type: 'stop' }
  | { type: 'pin' | 'unpin'; text: string }
  /** '' takes the visitor's name away. */
  | { type: 'named'; name: string }
  | { type: 'abandoned' }
  | { type: 'failed'; reason: Reason };

export type Effect =
  | { type: 'create'; experiment: Experiment }
  | { type: 'open'; slower: number; before: RunState['status'] }
  | { type: 'change'; changes: Parameters<Trainer['change']>[0] }
  | { type: 'train'; stretch: Stretch }
  /** Ends the stretch at its next report. */
  | { type: 'interrupt' }
  | { type: 'save' }
  /** Reports that earlier requests are done. */
  | { type: 'settle' }
  /** Frees the trainer, and the run for other tabs. */
  | { type: 'free' };

export interface Step {
  state: RunState;
  effects: Effect[];
}

export function newState(record: RunRecord, isStored = false): RunState {
  return {
    record, status: record.isOver ? 'over' : 'stored', wish: 'run', problem: '', unkept: '', isElsewhere: false,
    savedStep: isStored ? (record.points.at(-1)?.step ?? 0) : null, training: null, left: null, stretch: null,
    checkpoint: null, step: 0, secondsBefore: 0, lastSave: 0, nextSave: 0,
  };
}

export const isBusy = ({ status }: RunState) => ['preparing', 'running', 'pausing'].includes(status);

/** Returns whether leaving the page now would lose more than a little work. */
export const isUnsaved = ({ status, unkept, lastSave }: RunState, now: number) =>
  status === 'running' && (unkept !== '' || now - lastSave > LOSABLE);

/** How much of the goal is reached, from 0 to 1. */
export function share({ record }: RunState): number | null {
  const total = totalSteps(record);
  if (total !== null) return (record.points.at(-1)?.step ?? 0) / total;
  const minutes = totalMinutes(record.goal);
  return minutes ? record.seconds / 60 / minutes : null;
}

/** Part of the goal that remains; null if none does. */
export function remaining({ record, step }: RunState): Experiment['goal'] | null {
  const { goal, points, seconds } = record;
  const total = totalSteps(record);
  const left: Experiment['goal'] = {};
  if (total !== null) left.steps = total - Math.max(step, points.at(-1)?.step ?? 0);
  if (goal.minutes !== undefined) left.minutes = goal.minutes - seconds / 60;
  if (goal.budget !== undefined) left.budget = goal.budget - seconds / 60;
  return Object.values(left).some((value) => value <= 1e-9) ? null : left;
}

export function reduce(state: RunState, event: RunEvent): Step {
  const to = (changes: Partial<RunState>, ...effects: Effect[]): Step => ({ state: { ...state, ...changes }, effects });
  switch (event.type) {
    case 'begin':
      return to({ status: 'preparing' }, { type: 'create', experiment: event.experiment });
    case 'goOn':
      if (isBusy(state)) return to({});
      return to({ status: 'preparing' }, { type: 'open', slower: event.slower, before: state.status });
    case 'elsewhere':
      return to({ status: event.before, isElsewhere: true });
    case 'opened':
      return opened(state, event);
    case 'extend':
      return extended(state);
    case 'start':
      return next({ ...state, wish: 'run', status: 'running', record: { ...state.record, isOver: false } });
    case 'changed':
      return to({ training: event.training });
    case 'reported':
      return reported(state, event);
    case 'stretched': {
      const isOver = !event.isAborted && !state.stretch?.isFirst;
      // Saving gives the step that the next stretch begins with.
      return to({ stretch: null, record: { ...state.record, isOver } }, { type: 'save' }, { type: 'settle' });
    }
    case 'settled':
      return settled(state);
    case 'saved':
      return to({
        checkpoint: cut(state.record, event.step), step: event.step, savedStep: event.step, lastSave: event.now,
        nextSave: event.now + Math.max(SAVE_EVERY, SAVE_SHARE * event.took),
      });
    case 'kept':
      return to({ unkept: '' });
    case 'unkept':
      return to({ unkept: event.reason });
    case 'pause':
      return state.status === 'running' ? to({ wish: 'pause', status: 'pausing' }) : to({});
    case 'stop':
      if (state.status === 'paused') return closed(state);
      return to({ wish: 'stop', status: state.status === 'running' ? 'pausing' : state.status });
    case 'pin':
    case 'unpin':
      return pinned(state, event);
    case 'named':
      return to({ record: renamed(state.record, event.name), checkpoint: renamed(state.checkpoint, event.name) });
    case 'abandoned':
      return closed(state);
    case 'failed':
      return to(
        {
          status: 'failed', problem: event.reason, record: state.checkpoint ?? state.record, stretch: null,
          training: null, left: null,
        },
        { type: 'free' },
      );
  }
}

function opened(state: RunState, { info, record, isSaved, isIdle }: Extract<RunEvent, { type: 'opened' }>): Step {
  const { training, step } = info;
  const next: RunState = {
    ...state, training, step, record, secondsBefore: record.seconds, problem: '', isElsewhere: false,
    ...(isSaved && { savedStep: step, checkpoint: record }),
  };
  if (isIdle) return { state: { ...next, status: record.isOver ? 'over' : 'paused' }, effects: [{ type: 'save' }] };
  return { state: next, effects: [] };
}

function extended(state: RunState): Step {
  const { record, step, training } = state;
  const { goal, batchesPerEpoch, seconds } = record;
  const steps = 2 * step;
  const longer = {
    ...(goal.steps && { steps }),
    ...(goal.epochs && { epochs: Math.ceil(steps / batchesPerEpoch) }),
    ...(goal.minutes && { minutes: goal.minutes + seconds / 60 }),
    ...(goal.budget && { budget: goal.budget + seconds / 60 }),
  };
  const next = { ...state, record: { ...record, goal: longer, isOver: false } };
  if (!training || !comesToZero(training.schedule)) return { state: next, effects: [] };
  // A rate that has come down to 0 comes up to where it would be on the way to the new end.
  const changes = { decay_steps: Math.max(training.decay_steps, steps) };
  return { state: next, effects: [{ type: 'change', changes }] };
}

/** The next stretch of a run that is to go on, or its end. */
function next(state: RunState): Step {
  const goal = remaining(state);
  if (!goal) {
    const record = { ...state.record, isOver: true };
    return { state: { ...state, record }, effects: [{ type: 'save' }, { type: 'settle' }] };
  }
  const { pinned, points, reportEvery } = state.record;
  const pins = pinned.map(({ text }) => text);
  // The first validation pair can be watched as soon as there is a score.
  const isFirst = pins.length === 0 && points.length === 0 && runTask(state.record).isScoredAtOnce;
  const untilReport = { steps: reportEvery - (state.step % reportEvery) };
  const stretch: Stretch = { goal: isFirst ? untilReport : goal, pins, isFirst, begin: null };
  // There always is a checkpoint to go back to.
  const save: Effect[] = state.savedStep === null ? [{ type: 'save' }] : [];
  return { state: { ...state, stretch }, effects: [...save, { type: 'train', stretch }] };
}

function settled(state: RunState): Step {
  if (state.record.isOver || state.wish === 'stop') return closed(state);
  return state.wish === 'pause' ? { state: { ...state, status: 'paused' }, effects: [] } : next(state);
}

function closed(state: RunState): Step {
  const status = state.record.isOver ? 'over' : 'stored';
  return { state: { ...state, status, stretch: null, training: null, left: null }, effects: [{ type: 'free' }] };
}

function reported(state: RunState, { event, now }: Extract<RunEvent, { type: 'reported' }>): Step {
  const { stretch } = state;
  if (!stretch) return { state, effects: [] };
  const record = add(state.record, event, state.secondsBefore, stretch.pins);
  const sample = event.validation?.samples[0];
  if (sample && record.pinned.length === 0) {
    record.pinned = [{ text: sample.source, snapshots: [snapshotOf(event.step, sample.translation)] }];
  }
  const begin = stretch.begin ?? { now, step: event.step };
  const next: RunState = { ...state, record, stretch: { ...stretch, begin } };
  next.left = timeLeft(next, (now - begin.now) / 1000, event.step - begin.step);
  if (state.wish !== 'run' || isStale(next)) return { state: next, effects: [{ type: 'interrupt' }] };
  if (!isSaveDue(next, event.validation?.isBest ?? false, now)) return { state: next, effects: [] };
  return { state: { ...next, nextSave: Infinity }, effects: [{ type: 'save' }] };
}

/** Other sentences are watched than at the stretch's start. */
const isStale = ({ record, stretch }: RunState) =>
  record.pinned.map(({ text }) => text).join('\n') !== stretch!.pins.join('\n');

function timeLeft(state: RunState, seconds: number, steps: number): number | null {
  const goal = remaining(state) ?? {};
  const minutes = totalMinutes(goal);
  const lefts = [minutes && minutes * 60, goal.steps && steps > 0 && (goal.steps / steps) * seconds];
  const known = lefts.filter((left): left is number => !!left);
  return known.length > 0 ? Math.min(...known) : null;
}

function isSaveDue({ record: { points }, lastSave, nextSave }: RunState, isBest: boolean, now: number): boolean {
  // A loss that has just jumped may be the beginning of the end; the state before it is the better one to go back to.
  const hasJumped = points.at(-1)!.loss > 2 * Math.min(...points.map(({ loss }) => loss)) + 0.5;
  if (hasJumped && now < lastSave + PATIENCE) return false;
  return now >= nextSave || (isBest && now > lastSave + BEST_EVERY && nextSave - lastSave <= SAVE_EVERY);
}

/** A record with another name of the visitor's. */
export function renamed<Record extends RunRecord | null>(record: Record, name: string): Record {
  return record && { ...record, ownName: name || undefined };
}

function pinned(state: RunState, { type, text }: { type: 'pin' | 'unpin'; text: string }): Step {
  const others = state.record.pinned.filter((pin) => pin.text !== text);
  if (type === 'pin' && others.length < state.record.pinned.length) return { state, effects: [] };
  const all = type === 'pin' ? [...others, { text, snapshots: [] }].slice(-MOST_PINNED) : others;
  const next = { ...state, record: { ...state.record, pinned: all } };
  return { state: next, effects: isBusy(state) ? [] : [{ type: 'save' }] };
}

/** The state of a run before its trainer is there. */
export const preparedFor = (experiment: Experiment) =>
  newState(newRecord(experiment, { parameters: 1, batchesPerEpoch: 1, training: { batch_tokens: 1 } }));
