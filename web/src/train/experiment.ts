// Experiments: what is trained, how, and how far. The forms of the Train view make them, and its runs carry them out.
import type { TrainerOptions } from 'wasmformer';

export interface Experiment {
  /** Shown: 'reverse' or 'de → en, 10,000 pairs'. */
  name: string;
  /** Can be cloned and kept. */
  options: Omit<TrainerOptions, 'signal' | 'onProgress'>;
  /** Totals of the whole run. */
  goal: { epochs?: number; steps?: number; minutes?: number; budget?: number };
  /** Score that the curve shows next to the losses. */
  metric: 'bleu' | 'exactMatch' | 'accuracy' | 'tagAccuracy';
  /** The sentence that is watched first, unless it is one of those that validate. */
  watch?: string;
  /** Data and settings as the link says them; null where the data are the visitor's own. */
  setup: string | null;
}

/** A link that fills the forms with the same data, settings and seed; null where the data cannot be in a link. */
export function experimentLink({ setup }: Pick<Experiment, 'setup'>): string | null {
  return setup === null ? null : new URL(`#train?${new URLSearchParams({ setup })}`, document.baseURI).href;
}
