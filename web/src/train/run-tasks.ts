// Differences between the tasks of runs, by the metric of a run, which is all that its record stores of its task.
import type { TrainerInfo, Validation } from 'wasmformer';
import type { Experiment } from './experiment';
import type { trainWords } from './words';

type Metric = Experiment['metric'];
/** Scores of a validation; each task has some of them. */
export type Scores = Pick<Validation, 'loss' | 'bleu' | 'chrf' | 'exactMatch' | 'accuracy' | 'tagAccuracy' | 'spanF1'>;
/** A name, in the words of the Train view, which come only with it. */
type Name = (words: typeof trainWords) => string;

/** A line of the curves of scores. */
interface ScoreLine {
  key: keyof Scores;
  name: Name;
  faint?: boolean;
  /** Left out as long as no validation has measured it. */
  isOptional?: boolean;
}

interface RunTask {
  /** The view that uses such models. */
  view: 'translate' | 'classify';
  /** View next to the curves: sentences over the steps, or the confusion matrix of labels. */
  shows: 'sentences' | 'confusion';
  /** Validation examples that are reported; and whether with attention, until a sentence is watched. */
  samples: number;
  hasAttention: boolean;
  /** Steps between validations, at most. */
  validateEvery: number;
  /** True if validation takes almost no time, so that the first report has a score and a sentence to watch. */
  isScoredAtOnce: boolean;
  /** Unit in which differences between two outputs are marked. */
  granularity: 'grapheme' | 'word';
  /** How the score is written. */
  digits: Intl.NumberFormatOptions;
  unit: '%' | 'BLEU';
  curves: { title: Name; lines: readonly ScoreLine[] };
}

const translation = {
  view: 'translate',
  shows: 'sentences',
  samples: 5,
  hasAttention: true,
  validateEvery: 500,
} as const;

const named = (key: 'accuracy' | 'tagAccuracy' | 'spanF1'): ScoreLine => ({
  key,
  name: (words) => words(key),
  isOptional: true,
});

const annotation: RunTask = {
  view: 'classify',
  shows: 'confusion',
  samples: 500,
  hasAttention: false,
  validateEvery: 100, // which takes little time
  isScoredAtOnce: false,
  granularity: 'word',
  digits: { maximumFractionDigits: 1 },
  unit: '%',
  curves: { title: (words) => words('accuracy'), lines: [named('accuracy'), named('tagAccuracy'), named('spanF1')] },
};

const tasks: Record<Metric, RunTask> = {
  bleu: {
    ...translation,
    isScoredAtOnce: false,
    granularity: 'word',
    digits: { maximumFractionDigits: 1 },
    unit: 'BLEU',
    curves: {
      title: (words) => words('scores'),
      lines: [
        { key: 'bleu', name: () => 'BLEU' },
        { key: 'chrf', name: () => 'chrF', faint: true },
      ],
    },
  },
  exactMatch: {
    ...translation,
    isScoredAtOnce: true,
    granularity: 'grapheme',
    digits: { maximumSignificantDigits: 3 },
    unit: '%',
    curves: {
      title: (words) => words('exactMatch'),
      lines: [{ key: 'exactMatch', name: (words) => words('exact') }],
    },
  },
  accuracy: annotation,
  tagAccuracy: annotation,
};

export const runTask = ({ metric }: Pick<Experiment, 'metric'>): RunTask => tasks[metric];

/** The score of the runs of a trainer. */
export function metricOf({ task, classes, tags }: TrainerInfo): Metric {
  if (classes?.length) return 'accuracy';
  if (tags?.length) return 'tagAccuracy';
  return task ? 'exactMatch' : 'bleu';
}
