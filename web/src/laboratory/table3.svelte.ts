// Trains rows of Table 3, the base model first, since the others are compared with it.
import { Trainer, type TrainerConfig } from 'wasmformer';
import { reason, type Reason } from '../shared/words/reason';
import { shippedPairs } from '../shared/text/shipped';
import { remember, remembered } from '../shell/settings.svelte';
import { workers } from './laboratory.svelte';
import { BASE, PAIRS, resultsIn, ROWS, STEPS, type Own } from './table3';

const KEPT = 'table3';
const REPORT_EVERY = 10; // steps

export class Table3 {
  results = $state.raw<Readonly<Record<string, Own>>>(resultsIn(remembered(KEPT)));
  /** Rows that are asked for, with the share of their steps that is done. */
  going = $state.raw<Readonly<Record<string, number>>>({});
  problem = $state.raw<Reason | ''>('');
  #stop: AbortController | null = null;
  #begun = new Set<string>();

  /** Trains a row, and before it the base model unless its numbers are there. */
  train(id: string) {
    this.#stop ??= new AbortController();
    this.problem = '';
    const wanted = [...(this.results.base ? [] : ['base']), id].filter((row) => !(row in this.going));
    this.going = { ...this.going, ...Object.fromEntries(wanted.map((row) => [row, 0])) };
    this.#fill();
  }

  stop() {
    this.#stop?.abort();
    this.#stop = null;
    this.#begun.clear();
    this.going = {};
  }

  forget() {
    this.stop();
    this.#keep({});
  }

  #keep(results: Readonly<Record<string, Own>>) {
    this.results = results;
    remember(KEPT, JSON.stringify(results));
  }

  #fill() {
    const waiting = Object.keys(this.going).filter((id) => !this.#begun.has(id));
    for (const id of waiting.slice(0, Math.max(0, workers() - this.#begun.size))) {
      this.#begun.add(id);
      void this.#run(id, this.#stop!.signal);
    }
  }

  async #run(id: string, signal: AbortSignal) {
    let trainer: Trainer | undefined;
    const dispose = () => trainer?.dispose();
    const began = performance.now();
    try {
      const { set } = ROWS.find((row) => row.id === id)!;
      const pairs = await shippedPairs('de', 'en');
      trainer = await Trainer.create({
        pairs: pairs.slice(0, PAIRS),
        validation: pairs.slice(PAIRS, PAIRS + 500),
        preset: 'toy',
        tokenizer: { type: 'bpe', vocabSize: 2000 },
        config: { ...BASE, ...set } as TrainerConfig,
        threads: 1,
        signal,
      });
      signal.addEventListener('abort', dispose);
      const { parameters } = trainer.info;
      const options = { steps: STEPS, reportEvery: REPORT_EVERY, validateEvery: STEPS, samples: 0, signal };
      for await (const { step, validation } of trainer.run(options)) {
        if (signal.aborted) return;
        this.going = { ...this.going, [id]: step / STEPS };
        if (!validation) continue;
        const seconds = (performance.now() - began) / 1000;
        const own = { perplexity: Math.exp(validation.loss), bleu: validation.bleu ?? 0, parameters, seconds };
        this.#keep({ ...this.results, [id]: own });
      }
    } catch (error) {
      if (signal.aborted) return;
      this.problem = reason(error);
    } finally {
      signal.removeEventListener('abort', dispose);
      dispose();
    }
    this.#begun.delete(id);
    this.going = Object.fromEntries(Object.entries(this.going).filter(([row]) => row !== id));
    this.#fill();
  }
}

export const createTable3 = () => new Table3();
