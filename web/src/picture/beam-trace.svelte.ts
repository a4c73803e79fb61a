import type { TranslateOptions, Translation, Translator } from 'wasmformer';
import { models } from '../models/models.svelte';
import { type Problem } from '../shared/words/words';

/** The latest of a component's own searches: a new one ends the one before, and so does leaving the component. */
export class Search {
  #made = $state.raw<{ by: Translator; result: Translation } | null>(null);
  /** Null also where another model made it than the current one: a view never mixes two. */
  readonly result = $derived(this.#made?.by === models.translator ? this.#made!.result : null);
  busy = $state(false);
  problem = $state.raw<Problem | null>(null);

  #running: AbortController | null = null;

  constructor() {
    $effect(() => () => this.stop());
  }

  /** Null when there is nothing to translate, another search took its place, or it failed (which `problem` says). */
  async run(text: string, options: TranslateOptions): Promise<Translation | null> {
    this.stop();
    const by = models.translator;
    if (!by || text.trim() === '') return (this.#made = null);
    const running = (this.#running = new AbortController());
    this.busy = true;
    try {
      const result = await by.translate(text, { ...options, signal: running.signal });
      if (running !== this.#running) return null;
      this.problem = null;
      this.#made = { by, result };
      return result;
    } catch (error) {
      if (running === this.#running && !running.signal.aborted) this.problem = models.failed(error);
      return null;
    } finally {
      if (running === this.#running) this.busy = false;
    }
  }

  stop() {
    this.#running?.abort();
  }
}
