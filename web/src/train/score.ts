import type { RunRecord } from './record';
import { runTask } from './run-tasks';
import { duration, number } from '../shared/words/speech.svelte';
import { trainWords } from './words';

const FEWEST_FOR_BLEU = 50; // pairs: of fewer, BLEU says little

/** The latest score of a run, with its unit; '' before the first. */
export function scoreOf(record: RunRecord): string {
  const valid = record.points.findLast(({ valid }) => valid)?.valid;
  if (!valid) return '';
  const { metric, validationTexts: all = Infinity } = record;
  if (metric === 'bleu' && all < FEWEST_FOR_BLEU)
    return trainWords('rightOf', { right: Math.round((all * valid.exactMatch!) / 100), all });
  const { digits, unit } = runTask(record);
  return `${number(valid[record.metric] ?? 0, digits)} ${unit}`;
}

/** How long a card's run takes on this computer; '' where that is not known yet. */
export function takes(seconds: number | null): string {
  return seconds === null ? '' : trainWords('takes', { time: duration(seconds) });
}
