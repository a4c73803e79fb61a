import { isEncoder, type RunRecord } from './record';
import { pace } from './speed.svelte';
import { duration, number } from '../shared/words/speech.svelte';
import { w } from './words';

/** The latest score of a run, with its unit; '' before the first. */
export function scoreOf(record: RunRecord): string {
  const valid = record.points.findLast(({ valid }) => valid)?.valid;
  if (!valid) return '';
  if (isEncoder(record)) return `${number(valid[record.metric] ?? 0, { maximumFractionDigits: 1 })} %`;
  return record.metric === 'exactMatch' ? `${number(valid.exactMatch!, { maximumSignificantDigits: 3 })} %` : `${number(valid.bleu!, { maximumFractionDigits: 1 })} BLEU`;
}

/** How long a card's run takes on this computer; '' where that is not known yet. */
export function takes(work: number): string {
  const seconds = pace.seconds(work);
  return seconds === null ? '' : w('takes', { time: duration(seconds) });
}
