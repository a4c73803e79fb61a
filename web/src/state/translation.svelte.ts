// What is typed and what comes out.
import { untrack } from 'svelte';
import type { Translation } from 'wasmformer';
import example from 'virtual:example';
import type { Maps } from '../attention';
import { examples } from '../strings';
import { link } from './link.svelte';
import { models } from './models.svelte';
import { reason, type Problem } from './settings.svelte';

/** A finished translation together with the text that it is of. */
export interface Shown extends Omit<Translation, 'attention'> {
  source: string;
  attention: { encoder: Maps; decoder: Maps; cross: Maps };
}

const TYPING_PAUSE = 180; // ms without a key before the search starts
const LONGEST_IN_LINK = 6000; // characters
export const BEAM_SIZE = 4;

class Work {
  source = $state('');
  partial = $state<string | null>(null); // not null: a search is running
  shown = $state.raw<Shown | null>(null);
  problem = $state.raw<Problem | null>(null);
  tokensPerSecond = $state<number | null>(null);

  /** The shown translation is that of the text in the box. */
  readonly fresh = $derived(this.shown !== null && this.shown.source === this.source && this.partial === null);
  readonly examples = $derived(examples[models.sourceCode ?? ''] ?? []);

  #search: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins with the link's text or an example, and translates whenever a model has come. */
  start() {
    const first = this.examples[0] ?? '';
    this.source = link.parameters.text ?? first;
    if (example && this.source === first) {
      const { attention, ...rest } = example;
      const maps = ({ perMille, ...sizes }: (typeof attention)['cross']): Maps => ({
        ...sizes,
        data: perMille.map((weight) => weight / 1000),
      });
      const { encoder, decoder, cross } = attention;
      this.shown = { ...rest, attention: { encoder: maps(encoder), decoder: maps(decoder), cross: maps(cross) } };
    }
    $effect.root(() => {
      // Another link, or a step in the history, may bring another text.
      $effect(() => {
        if (link.arrivals > 0) untrack(() => this.#follow());
      });
      $effect(() => {
        if (models.translator) untrack(() => void this.#translate());
      });
    });
  }

  #follow() {
    const { text } = link.parameters;
    if (text !== undefined && text !== this.source) this.type(text, 0);
  }

  /** A new key ends the search for the text before it, and starts its own after a short pause. */
  type(text: string, pause = TYPING_PAUSE) {
    this.source = text;
    link.set({ text: text !== '' && text.length <= LONGEST_IN_LINK ? text : null });
    this.#search?.abort();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.shown?.source !== text) void this.#translate();
    }, pause);
  }

  async #translate() {
    const text = this.source;
    this.problem = null;
    this.#search?.abort();
    if (text.trim() === '' || !models.translator) {
      this.shown = null;
      this.partial = null;
      return;
    }
    const search = (this.#search = new AbortController());
    this.partial = '';
    const begin = performance.now();
    try {
      const result = await models.translator.translate(text, {
        beamSize: BEAM_SIZE,
        nBest: BEAM_SIZE,
        attention: true,
        signal: search.signal,
        onToken: (partial) => {
          if (search === this.#search) this.partial = partial;
        },
      });
      if (search !== this.#search) return;
      this.tokensPerSecond = result.targetTokens.length / ((performance.now() - begin) / 1000);
      this.shown = { ...result, source: text, attention: result.attention! };
    } catch (error) {
      if (search !== this.#search || search.signal.aborted) return;
      this.shown = null;
      this.problem = { key: 'translateFailed', reason: reason(error) };
    } finally {
      if (search === this.#search) this.partial = null;
    }
  }
}

export const translation = new Work();
