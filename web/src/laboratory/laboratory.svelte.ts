// The ablation that is open, and its trials, each with a Trainer, and with it a worker, of its own.
import { Trainer, type TrainerConfig } from 'wasmformer';
import { toText, type Ablation } from './ablation';
import {
  broken,
  intervals,
  isOver,
  isSameTrial,
  next,
  planned,
  replanned,
  reported,
  SEEDS,
  share,
  stopped,
  type Trial,
} from './trials';
import { reason } from '../shared/words/reason';

const MOST_WORKERS = 8; // each has a module and its memory

export const workers = () => Math.min(MOST_WORKERS, navigator.hardwareConcurrency || 2);

export class Laboratory {
  ablation = $state.raw<Ablation | null>(null);
  trials = $state.raw<readonly Trial[]>([]);
  /** The arm that the visitor expects to be best; '' before that. */
  prediction = $state('');
  /** Whether it has been started and not reset since. */
  hasBegun = $state(false);
  /** It was stopped by leaving the view, which is said on return. */
  wasLeft = $state(false);
  #stop = $state.raw<AbortController | null>(null);
  #began = $state.raw<{ at: number; share: number } | null>(null);

  readonly isRunning = $derived(this.#stop !== null);
  readonly isDone = $derived(this.trials.length > 0 && this.trials.every(isOver));
  readonly share = $derived(this.ablation ? share(this.trials, this.ablation) : 0);

  /** Opens an ablation; what is known of the arms that it shares with the one before stays. */
  open(ablation: Ablation) {
    if (this.ablation && toText(this.ablation) === toText(ablation)) return;
    const isOther = !this.ablation || !hasSameRuns(this.ablation, ablation);
    this.ablation = ablation;
    if (isOther) return this.reset();
    this.trials = replanned(ablation, this.trials);
    if (!ablation.arms.some(({ id }) => id === this.prediction)) this.prediction = '';
    this.#fill();
  }

  predict(arm: string) {
    if (!this.hasBegun) this.prediction = arm;
  }

  start() {
    if (this.isRunning || !this.ablation) return;
    this.hasBegun = true;
    this.wasLeft = false;
    this.#stop = new AbortController();
    this.#began = { at: performance.now(), share: this.share };
    this.#fill();
  }

  stop() {
    this.#stop?.abort();
    this.#stop = null;
    this.trials = stopped(this.trials);
  }

  /** The view is left: training would take the processor from what comes next. */
  leave() {
    if (!this.isRunning) return;
    this.stop();
    this.wasLeft = true;
  }

  /** Removes scores and prediction. */
  reset() {
    this.stop();
    this.prediction = '';
    this.hasBegun = false;
    this.wasLeft = false;
    if (this.ablation) this.trials = planned(this.ablation);
  }

  /** Seconds until every trial is over, by the pace so far; null before it is known. */
  left(now: number): number | null {
    if (!this.#began || !this.isRunning) return null;
    const made = this.share - this.#began.share;
    if (made < 0.01) return null;
    return ((now - this.#began.at) / 1000 / made) * (1 - this.share);
  }

  #fill() {
    if (!this.#stop) return;
    const { signal } = this.#stop;
    for (const trial of next(this.trials, workers())) {
      this.#change(trial, (one) => ({ ...one, status: 'running', points: [] }));
      void this.#run(trial, signal);
    }
    if (this.trials.every(isOver)) this.#stop = null;
  }

  async #run(trial: Trial, signal: AbortSignal) {
    const { task: name, pairs, longest, steps, base, arms } = this.ablation!;
    const { set } = arms.find(({ id }) => id === trial.arm)!;
    let trainer: Trainer | undefined;
    const dispose = () => trainer?.dispose();
    try {
      trainer = await Trainer.create({
        task: { name, ...(pairs !== undefined && { pairs }), ...(longest !== undefined && { longest }) },
        config: { ...base, ...set } as TrainerConfig,
        seed: trial.seed,
        threads: 1, // the arms share the cores
        signal,
      });
      signal.addEventListener('abort', dispose); // a step may take long
      const options = { ...intervals(this.ablation!), steps, samples: 1, attention: true, signal };
      for await (const event of trainer.run(options)) {
        const isWanted = this.trials.some((one) => isSameTrial(one, trial)); // its arm may have been taken away
        if (signal.aborted || !isWanted) return;
        this.#change(trial, (one) => reported(one, event));
      }
      const model = trial.seed === SEEDS[0] ? await trainer.save({ optimizer: false, signal }) : undefined;
      this.#change(trial, (one) => ({ ...one, status: 'done', ...(model && { model }) }));
    } catch (error) {
      if (signal.aborted) return;
      this.#change(trial, (one) => broken(one, reason(error)));
    } finally {
      signal.removeEventListener('abort', dispose);
      dispose();
    }
    this.#fill();
  }

  #change(which: Trial, change: (trial: Trial) => Trial) {
    this.trials = this.trials.map((trial) => (isSameTrial(trial, which) ? change(trial) : trial));
  }
}

/** Whether arms of one are trained as in the other. */
function hasSameRuns(a: Ablation, b: Ablation): boolean {
  const runs = ({ task, pairs, longest, steps, base }: Ablation) => JSON.stringify([task, pairs, longest, steps, base]);
  const isUnlike = ({ id, set }: Ablation['arms'][number]) => {
    const other = b.arms.find((arm) => arm.id === id);
    return other !== undefined && JSON.stringify(other.set) !== JSON.stringify(set);
  };
  return a.id === b.id && runs(a) === runs(b) && !a.arms.some(isUnlike);
}

export const createLaboratory = () => new Laboratory();
