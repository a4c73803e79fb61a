// The trials of an ablation, one for each arm and seed: which are next, and what each has shown so far.
import type { TrainingEvent } from 'wasmformer';
import type { Ablation, Metric } from './ablation';
import type { Reason } from '../shared/words/reason';
import { snapshotOf, type Snapshot } from '../train/record';

/** The first shows the curves; the others show how far chance alone moves them. */
export const SEEDS = [1, 2, 3] as const;
const REPORTS = 50; // of a trial
const SCORES = 25; // of a trial

export interface Scores {
  loss: number;
  exactMatch: number;
  bleu: number;
  chrf: number;
}

export interface Point {
  step: number;
  /** Mean loss of training since the point before. */
  loss: number;
  /** On the validation pairs, at some of the points. */
  scores?: Scores;
}

export interface Trial {
  arm: string;
  seed: number;
  /** 'diverged' is a result; 'failed' is an error. */
  status: 'waiting' | 'running' | 'done' | 'diverged' | 'failed';
  points: readonly Point[];
  /** The first validation pair, the same in all trials of a seed, as it was last translated. */
  shown?: { snapshot: Snapshot; source: string; reference: string };
  problem?: Reason;
  /** The trained model, of the first seed. */
  model?: Blob;
}

const DIVERGENCE = ['loss-not-finite', 'loss-too-high', 'gradient-not-finite', 'validation-not-finite'];

/** Every arm with the first seed, then every arm with the next: the curves come first. */
export function planned({ arms }: Ablation): Trial[] {
  return SEEDS.flatMap((seed) => arms.map(({ id }): Trial => ({ arm: id, seed, status: 'waiting', points: [] })));
}

export const isSameTrial = (a: Pick<Trial, 'arm' | 'seed'>, b: Pick<Trial, 'arm' | 'seed'>) =>
  a.arm === b.arm && a.seed === b.seed;

/** The plan of an ablation whose arms have changed, with what is known of those that stay. */
export function replanned(ablation: Ablation, before: readonly Trial[]): Trial[] {
  return planned(ablation).map((trial) => before.find((other) => isSameTrial(other, trial)) ?? trial);
}

/** Trials to begin now, with so many workers. */
export function next(trials: readonly Trial[], workers: number): Trial[] {
  const running = trials.filter(({ status }) => status === 'running').length;
  return trials.filter(({ status }) => status === 'waiting').slice(0, Math.max(0, workers - running));
}

export const isOver = ({ status }: Trial) => status === 'done' || status === 'diverged' || status === 'failed';

/** Steps between reports and between validations. */
export function intervals({ steps }: Ablation): { reportEvery: number; validateEvery: number } {
  const reportEvery = Math.max(1, Math.round(steps / REPORTS));
  return { reportEvery, validateEvery: Math.max(1, Math.round(REPORTS / SCORES)) * reportEvery };
}

/** A trial with what an event of its training tells. */
export function reported(trial: Trial, { step, loss, validation }: TrainingEvent): Trial {
  if (!validation) return { ...trial, points: [...trial.points, { step, loss }] };
  const { exactMatch = 0, bleu = 0, chrf = 0, samples } = validation;
  const scores = { loss: validation.loss, exactMatch, bleu, chrf };
  const [first] = samples;
  const shown = first && {
    snapshot: snapshotOf(step, first.translation),
    source: first.source,
    reference: first.reference,
  };
  return { ...trial, points: [...trial.points, { step, loss, scores }], ...(shown && { shown }) };
}

/** A trial that an error has ended; to diverge is what some arms are there for. */
export function broken(trial: Trial, problem: Reason): Trial {
  return { ...trial, status: DIVERGENCE.includes(problem.code) ? 'diverged' : 'failed', problem };
}

/** Stopped before its end, a trial will begin anew, since half of one has no score to compare; its curve stays till then. */
export const stopped = (trials: readonly Trial[]): Trial[] =>
  trials.map((trial) => (trial.status === 'running' ? { ...trial, status: 'waiting' } : trial));

/** The latest score; null before the first, and of a trial with an error. */
export function scoreOf(trial: Trial | undefined, metric: Metric): number | null {
  if (!trial || trial.status === 'failed') return null;
  if (trial.status === 'diverged') return metric === 'loss' ? Infinity : 0;
  return trial.points.findLast(({ scores }) => scores)?.scores?.[metric] ?? null;
}

/** Share of all steps that are done, from 0 to 1. */
export function share(trials: readonly Trial[], { steps }: Ablation): number {
  const stepsOf = (trial: Trial) => (trial.status === 'running' ? trial.points.at(-1)?.step ?? 0 : 0);
  const made = trials.map((trial) => (isOver(trial) ? steps : stepsOf(trial)));
  return trials.length === 0 ? 0 : made.reduce((sum, one) => sum + one, 0) / (steps * trials.length);
}
