import type { RunRecord } from '../../train/record';
import { number } from '../../words/speech.svelte';

/** The latest score of a run, with its unit; '' before the first. */
export function scoreOf({ points, metric }: RunRecord): string {
  const valid = points.findLast(({ valid }) => valid)?.valid;
  if (!valid) return '';
  if (metric === 'accuracy' || metric === 'tagAccuracy') return `${number(valid[metric] ?? 0, { maximumFractionDigits: 1 })} %`;
  return metric === 'exactMatch' ? `${number(valid.exactMatch!, { maximumSignificantDigits: 3 })} %` : `${number(valid.bleu!, { maximumFractionDigits: 1 })} BLEU`;
}
