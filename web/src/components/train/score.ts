import { isEncoder, type RunRecord } from '../../train/record';
import { number } from '../../words/speech.svelte';

/** The latest score of a run, with its unit; '' before the first. */
export function scoreOf(record: RunRecord): string {
  const valid = record.points.findLast(({ valid }) => valid)?.valid;
  if (!valid) return '';
  if (isEncoder(record)) return `${number(valid[record.metric] ?? 0, { maximumFractionDigits: 1 })} %`;
  return record.metric === 'exactMatch' ? `${number(valid.exactMatch!, { maximumSignificantDigits: 3 })} %` : `${number(valid.bleu!, { maximumFractionDigits: 1 })} BLEU`;
}
