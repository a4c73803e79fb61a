// A copy of the model learns a corrected translation, in a worker of its own; the model in use does not change.
import { Trainer, type Evaluation, type SentencePair } from 'wasmformer';
import { shippedPairs } from '../../shared/text/shipped';
import { createModels, type Models, titleOf } from '../../models/models.svelte';
import { reason, type Reason } from '../../shared/words/reason';
import { pageWords } from '../../shared/words/words';
import { createTranslation, type TranslationStore } from '../translation.svelte';
import type { Stores } from '../../shared/stores.svelte';

const MOST_STEPS = 40;
const LOOK_EVERY = 2; // steps between checks whether it has been learned
const RATE = 1e-4; // of Adam; a few steps of it move one sentence
const COPIES = 4; // of the correction
const REHEARSED = 24; // known pairs in each step, against forgetting
const KEPT = 100; // pairs that it is measured on
/** BLEU that the kept set may lose unreported. */
export const FORGETS = 1;

type Scores = Pick<Evaluation, 'bleu' | 'chrf'>;

export interface Result {
  source: string;
  wanted: string;
  before: string;
  after: string;
  steps: number;
  /** Scores on pairs that it did not learn from, before and after; null if there are no such pairs. */
  scores: { before: Scores; after: Scores; pairs: number; origin: 'shipped' | 'own' } | null;
  model: File;
}

export class Correction {
  readonly #models: Models;
  readonly #translation: TranslationStore;
  phase = $state<'idle' | 'preparing' | 'measuring' | 'learning'>('idle');
  step = $state(0);
  text = $state('');
  problem = $state.raw<Reason | ''>('');
  result = $state.raw<Result | null>(null);
  readonly most = MOST_STEPS;
  #running: AbortController | null = null;

  constructor(models: Models, translation: TranslationStore) {
    this.#models = models;
    this.#translation = translation;
  }

  async learn(source: string, before: string, wanted: string) {
    const { from, model } = this.#models;
    if (!from || !model) return;
    this.cancel();
    const { signal } = (this.#running = new AbortController());
    this.problem = '';
    this.result = null;
    this.phase = 'preparing';
    let trainer: Trainer | undefined;
    try {
      const { rehearsed, kept, origin } = await this.#keptPairs(source);
      trainer = await Trainer.create({
        from,
        signal,
        pairs: [...rehearsed, ...Array<SentencePair>(COPIES).fill([source, wanted])],
        validation: [[source, wanted]],
        config: {
          optimizer: 'adam',
          schedule: 'constant',
          learning_rate: RATE,
          clip_norm: 1,
          label_smoothing: 0.1,
          batch_tokens: 4096,
          dropout: 0,
          attention_dropout: 0,
          activation_dropout: 0,
        },
      });
      signal.throwIfAborted();
      const measure = async () => (kept.length ? trainer!.evaluate(kept, { signal }) : null);
      this.phase = 'measuring';
      const first = await measure();
      this.phase = 'learning';
      this.step = 0;
      this.text = before;
      const options = { steps: MOST_STEPS, reportEvery: LOOK_EVERY, pinned: [source], samples: 0, signal };
      // The pinned translation is greedy; the page uses beam search, which may need a few more training steps.
      const searched = async () => (await trainer!.translate(source, { signal })).text;
      for await (const { step, pinned } of trainer.run(options)) {
        this.step = step;
        this.text = pinned?.[0]?.text ?? this.text;
        if (this.text === wanted && (await searched()) === wanted) break;
      }
      this.phase = 'measuring';
      const last = await measure();
      const after = await searched();
      const file = new File(
        [await trainer.save({ optimizer: false })],
        `${pageWords('corrected', { name: titleOf(model) })}.safetensors`,
      );
      signal.throwIfAborted();
      const scores = first && last && { before: first, after: last, pairs: kept.length, origin };
      this.result = { source, wanted, before, after, steps: this.step, scores, model: file };
    } catch (error) {
      if (!signal.aborted) this.problem = reason(error);
    } finally {
      trainer?.dispose();
      if (this.#running?.signal === signal) this.phase = 'idle';
    }
  }

  cancel() {
    this.#running?.abort();
    this.phase = 'idle';
  }

  discard() {
    this.cancel();
    this.result = null;
    this.problem = '';
  }

  async use() {
    const { model } = this.result!;
    this.discard();
    await this.#models.loadFile(model);
  }

  /** Pairs to rehearse, and others to measure: shipped ones of these languages, or the visitor's own other sentences. */
  async #keptPairs(source: string): Promise<{ rehearsed: SentencePair[]; kept: SentencePair[]; origin: 'shipped' | 'own' }> {
    const { sourceCode, targetCode } = this.#models;
    const shipped = await shippedPairs(sourceCode, targetCode).catch(() => []);
    if (shipped.length > 0)
      return { rehearsed: shipped.slice(0, REHEARSED), kept: shipped.slice(-KEPT), origin: 'shipped' };
    const others = this.#translation.sentences.filter((sentence) => sentence.fresh && sentence.source !== source);
    const pairs = others.map(({ source, shown }): SentencePair => [source, shown!.text]).slice(0, REHEARSED);
    return { rehearsed: pairs, kept: pairs, origin: 'own' };
  }
}

export const createCorrection = (stores: Stores) =>
  new Correction(stores.get(createModels), stores.get(createTranslation));
