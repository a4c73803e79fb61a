// Which head of the cross-attention aligns best, found by an experiment.
import { bestAligned, END_PIECE, type BestHead } from '../shared/attention/attention';
import { models } from '../models/models.svelte';
import { type Problem } from '../shared/words/words';
import { translation, type Shown } from './translation.svelte';

class Alignment {
  #measured = $state.raw<{ shown: Shown; best: BestHead | null } | null>(null);
  hidden = $state<number | null>(null); // the source piece that is hidden now
  problem = $state.raw<Problem | null>(null);
  #running: AbortController | null = null;

  /** Undefined until it is measured for the translation that is shown; null when no head can be said to align. */
  readonly best = $derived(this.#measured?.shown === translation.shown ? this.#measured?.best : undefined);

  /** Hides each source piece in turn, and forces the translation: how much less probable is each of its pieces? */
  async measure() {
    const { shown } = translation;
    if (!shown || !models.translator) return;
    this.#running?.abort();
    const running = (this.#running = new AbortController());
    const steps = shown.targetTokens.filter((token) => token.piece !== END_PIECE);
    const hideable = shown.sourceTokens.filter((token) => token.piece !== END_PIECE).length;
    const columns = shown.sourceTokens.length;
    const effects = { data: new Float32Array(steps.length * columns), rows: steps.length, columns };
    const forced = { prefix: steps.map((token) => token.id), beamSize: 1, maxLength: steps.length + 1,
      signal: running.signal };
    this.problem = null;
    try {
      for (let column = 0; column < hideable; ++column) {
        if (translation.shown !== shown) return; // there is another sentence now
        this.hidden = column;
        const { targetTokens } = await models.translator.translate(shown.source, { ...forced, maskedSource: [column] });
        steps.forEach((token, row) => {
          effects.data[row * columns + column] = token.logProbability - targetTokens[row].logProbability;
        });
      }
      this.#measured = { shown, best: bestAligned(shown.attention.cross, effects) };
    } catch (error) {
      if (!running.signal.aborted) this.problem = models.failed(error);
    } finally {
      if (running === this.#running) this.hidden = null;
    }
  }

  cancel() {
    this.#running?.abort();
  }
}

export const alignment = new Alignment();
