// Verdict on the trials of three seeds. A difference counts as seen if every seed has it in the same
// direction, it is on average larger than it varies from seed to seed, and it is not too small to matter.
import { isLowerBetter, metricOf, type Ablation, type Metric } from './ablation';
import { isOver, scoreOf, SEEDS, type Trial } from './trials';

/** Smaller differences do not count: one point of a percentage or of BLEU, or so much of a loss in nats. */
export const LEAST: Readonly<Record<Metric, number>> = { exactMatch: 1, bleu: 1, chrf: 1, loss: 0.01 };

export interface Verdict {
  /** 'none': no difference seen. */
  type: 'asClaimed' | 'opposite' | 'none' | 'seen';
  /** Arms that are compared: those of the claim, or else the best and the worst. */
  best: string;
  worse: string;
  metric: Metric;
  /** Mean scores of both. */
  scores: { best: number; worse: number };
  /** Arms that share the best place, since none of the others is seen to differ from the best of them. */
  leaders: string[];
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Whether one arm is seen to be better: seed by seed, in the order of the seeds. */
export function isBetter(ones: readonly number[], others: readonly number[], metric: Metric): boolean {
  const sign = isLowerBetter(metric) ? -1 : 1;
  const isEndless = (value: number) => !Number.isFinite(value);
  if (ones.some(isEndless)) return false;
  if (others.some(isEndless)) return others.every(isEndless); // every seed diverged
  const gains = ones.map((one, i) => sign * (one - others[i]));
  const spread = Math.max(...gains) - Math.min(...gains);
  return Math.min(...gains) > 0 && mean(gains) > spread && mean(gains) >= LEAST[metric];
}

/** Final scores of each arm, one for each seed; null until all are there. */
export function finalScores({ arms }: Ablation, trials: readonly Trial[], metric: Metric) {
  const all = new Map<string, number[]>();
  for (const { id } of arms) {
    const own = SEEDS.map((seed) => trials.find((trial) => trial.arm === id && trial.seed === seed));
    const scores = own.map((trial) => (trial && isOver(trial) ? scoreOf(trial, metric) : null));
    if (scores.includes(null)) return null;
    all.set(id, scores as number[]);
  }
  return all;
}

/** By the ablation's own claim, or another; null until every arm has the scores of every seed. */
export function verdictOf(ablation: Ablation, trials: readonly Trial[], claim = ablation.claim): Verdict | null {
  const metric = claim?.metric ?? metricOf(ablation);
  const finals = finalScores(ablation, trials, metric);
  if (!finals) return null;
  const at = (id: string) => finals.get(id)!;
  const sign = isLowerBetter(metric) ? -1 : 1;
  const ranked = [...finals.keys()].sort((a, b) => sign * (mean(at(b)) - mean(at(a))) || 0);
  const [best, worse] = claim ? [claim.best, claim.worse] : [ranked[0], ranked.at(-1)!];
  return {
    type: typeOf(at(best), at(worse), metric, claim !== undefined),
    best,
    worse,
    metric,
    scores: { best: mean(at(best)), worse: mean(at(worse)) },
    leaders: ranked.filter((id) => id === ranked[0] || !isBetter(at(ranked[0]), at(id), metric)),
  };
}

function typeOf(best: number[], worse: number[], metric: Metric, isClaimed: boolean): Verdict['type'] {
  if (isBetter(best, worse, metric)) return isClaimed ? 'asClaimed' : 'seen';
  return isBetter(worse, best, metric) ? 'opposite' : 'none';
}
