import type { TranslateOptions, Translation } from 'wasmformer';
import { models } from './models.svelte';
import { reason } from '../text/reason';
import { type Problem } from '../words/page';

/** The latest of a view's own searches: a new one ends the one before. */
export class Search {
  result = $state.raw<Translation | null>(null);
  busy = $state(false);
  problem = $state.raw<Problem | null>(null);

  #running: AbortController | null = null;

  /** Null when there is nothing to translate, another search took its place, or it failed (which `problem` says). */
  async run(text: string, options: TranslateOptions): Promise<Translation | null> {
    this.stop();
    if (!models.translator || text.trim() === '') return (this.result = null);
    const running = (this.#running = new AbortController());
    this.busy = true;
    try {
      const result = await models.translator.translate(text, { ...options, signal: running.signal });
      if (running !== this.#running) return null;
      this.problem = null;
      return (this.result = result);
    } catch (error) {
      if (running === this.#running && !running.signal.aborted) this.problem = { key: 'translateFailed', reason: reason(error) };
      return null;
    } finally {
      if (running === this.#running) this.busy = false;
    }
  }

  stop() {
    this.#running?.abort();
  }
}
