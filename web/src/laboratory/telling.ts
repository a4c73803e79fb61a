// Words about an ablation: its question, the claim, the reason, and the verdict.
import { ALWAYS, COUNTED, metricOf, originOf, type Ablation, type Claim, type Metric } from './ablation';
import { armName } from './naming';
import { scoreOf, SEEDS, type Trial } from './trials';
import { LEAST, type Verdict } from './verdict';
import { list, number } from '../shared/words/speech.svelte';
import { labTable, labWords } from './words';

type Word = Parameters<typeof labWords>[0];
const has = (key: string): key is Word => key in labTable();

/** A text about an ablation of the page, if it is one of them and has such a text. */
function textOf(ablation: Ablation, keyOf: (id: string) => string): string {
  const origin = originOf(ablation);
  const key = origin ? keyOf(origin.id) : '';
  return has(key) ? labWords(key) : '';
}

export const questionOf = (ablation: Ablation) =>
  textOf(ablation, (id) => `question_${id}`) || labWords('ownQuestion');
export const claimOf = (ablation: Ablation) => textOf(ablation, (id) => `claim_${id}`);
export const whyOf = (ablation: Ablation) => textOf(ablation, (id) => `why_${id}`);
export const paperOf = (ablation: Ablation) => textOf(ablation, (id) => `paper_${id}`);

/** Question that asks the visitor for a prediction. */
export const askOf = (ablation: Ablation) => labWords(`ask_${metricOf(ablation)}`);

export const scoreName = (metric: Metric) => labWords(`score_${metric}`);

const DIGITS: Readonly<Record<Metric, Intl.NumberFormatOptions>> = {
  exactMatch: { maximumFractionDigits: 1 },
  bleu: { maximumFractionDigits: 1 },
  chrf: { maximumFractionDigits: 1 },
  loss: { minimumFractionDigits: 3, maximumFractionDigits: 3 },
};

/** A score as it is shown. */
export const written = (value: number, metric: Metric) =>
  (Number.isFinite(value) ? number(value, DIGITS[metric]) : '∞');

const nameIn = ({ arms }: Ablation, id: string) => armName(arms.find((arm) => arm.id === id)!);

/** A verdict as a sentence. */
export function verdictSentence(ablation: Ablation, { type, best, worse, metric, scores }: Verdict): string {
  return labWords(`verdict_${type}`, {
    best: nameIn(ablation, best),
    worse: nameIn(ablation, worse),
    bestScore: written(scores.best, metric),
    worseScore: written(scores.worse, metric),
    score: scoreName(metric),
  });
}

function heldSentence(ablation: Ablation, { best, worse, metric, holds }: Claim): string {
  if (holds === undefined) return '';
  const names = { best: nameIn(ablation, best), worse: nameIn(ablation, worse), score: scoreName(metric) };
  return labWords(holds >= ALWAYS ? 'held' : 'heldOften', { ...names, count: holds, seeds: COUNTED });
}

/** In how many of many runs each claim about an ablation of the page came out so. */
export function heldOf(ablation: Ablation): string[] {
  const { claim, also = [] } = originOf(ablation) ?? {};
  return [claim, ...also].map((one) => (one ? heldSentence(ablation, one) : '')).filter(Boolean);
}

/** The scores of the first seed, arm by arm. */
export function soFar(ablation: Ablation, trials: readonly Trial[]): string {
  const metric = metricOf(ablation);
  const scores = ablation.arms.map(({ id }) => {
    const score = scoreOf(trials.find(({ arm, seed }) => arm === id && seed === SEEDS[0]), metric);
    return labWords('armScore', { name: nameIn(ablation, id), score: score === null ? '–' : written(score, metric) });
  });
  return labWords('scoresOf', { scores: list(scores), metric: scoreName(metric) });
}

const leastOf = (metric: Metric) => labWords('least', { least: LEAST[metric], metric: scoreName(metric) });

/** Which arms are first, what became of the visitor's prediction, and by which rule: of all scores that are told. */
export function outcomeOf(
  ablation: Ablation,
  { leaders, metric }: Verdict,
  prediction: string,
  others: readonly (Verdict | null)[] = [],
) {
  const metrics = [...new Set([metric, ...others.map((other) => other?.metric ?? metric)])];
  const first = list(leaders.map((id) => labWords('quoted', { name: nameIn(ablation, id) })));
  const isRight = leaders.includes(prediction);
  return {
    first: labWords(leaders.length > 1 ? 'firstShared' : 'firstAlone', { names: first }),
    predicted: prediction
      && labWords(isRight ? 'predictedRight' : 'predictedWrong', { name: nameIn(ablation, prediction) }),
    rule: labWords('rule', { least: list(metrics.map(leastOf)) }),
  };
}
