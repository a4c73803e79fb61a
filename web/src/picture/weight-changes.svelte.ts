// Tokens and heads taken out of the model, and whether tokens are sampled rather than searched for. The address has
// them in the form of the program's options: mask=1,2&heads=cross:0:3&draw=0.8,0,1,1.
import type { AttentionHead, SamplingOptions, TranslateOptions } from 'wasmformer';
import type { Kind } from '../shared/attention/attention';
import { createUrlState, type UrlState } from '../shell/url-state.svelte';
import { BEAM_SIZE, createTranslation, type TranslationStore } from '../translate/translation.svelte';
import type { Stores } from '../shared/stores.svelte';

const listed = (values: readonly (string | number)[]) => (values.length ? values.join() : null);
const toggle = <Value>(values: readonly Value[], value: Value): Value[] =>
  values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
const nameOf = ({ attention, layer, head }: AttentionHead) => `${attention}:${layer}:${head}`;

export class WeightChanges {
  readonly #urlState!: UrlState;
  readonly #translation!: TranslationStore;
  readonly #tokens = $derived(this.#translation.shown?.sourceTokens.length ?? 0);
  /** Source tokens that are hidden. */
  readonly masked = $derived(
    (this.#urlState.parameters.mask ?? '')
      .split(',')
      .filter((at) => /^\d+$/.test(at) && Number(at) < this.#tokens)
      .map(Number),
  );
  readonly #off = $derived(
    (this.#urlState.parameters.heads ?? '').split(',').filter((head) => {
      const [, kind, layer, at] = /^(encoder|decoder|cross):(\d+):(\d+)$/.exec(head) ?? [];
      const maps = this.#translation.shown?.attention[kind as Kind];
      return maps && Number(layer) < maps.layers && Number(at) < maps.heads;
    }),
  );
  readonly sampling = $derived.by((): Required<SamplingOptions> | null => {
    if (!this.#urlState.parameters.draw) return null;
    const [temperature = 1, topK = 0, topP = 1, seed = 1] = this.#urlState.parameters.draw.split(',').map(Number);
    return { temperature, topK, topP, seed };
  });
  readonly count = $derived(this.masked.length + this.#off.length + (this.sampling ? 1 : 0));
  /** Says which they are. */
  readonly key = $derived([this.masked, this.#off, this.#urlState.parameters.draw].join(';'));

  constructor(urlState: UrlState, translation: TranslationStore) {
    this.#urlState = urlState;
    this.#translation = translation;
  }

  /** For a translation without what is taken out. */
  get taken(): TranslateOptions {
    const heads = this.#off.map((name) => name.split(':'));
    return {
      maskedSource: this.masked,
      maskedHeads: heads.map(([attention, layer, head]) => ({
        attention: attention as Kind,
        layer: Number(layer),
        head: Number(head),
      })),
    };
  }

  get options(): TranslateOptions {
    return { ...this.taken, ...(this.sampling ? { sampling: this.sampling } : { beamSize: BEAM_SIZE }) };
  }

  /** One token has to stay. */
  canHide = (token: number) => this.masked.includes(token) || this.masked.length < this.#tokens - 1;
  isOff = (head: AttentionHead) => this.#off.includes(nameOf(head));

  hide(token: number) {
    if (this.canHide(token))
      this.#urlState.set({ mask: listed(toggle(this.masked, token).toSorted((a, b) => a - b)) });
  }

  turn(head: AttentionHead) {
    this.#urlState.set({ heads: listed(toggle(this.#off, nameOf(head))) });
  }

  draw(change: Partial<SamplingOptions> | null) {
    const { temperature, topK, topP, seed } = {
      temperature: 1,
      topK: 0,
      topP: 1,
      seed: 1,
      ...this.sampling,
      ...change,
    };
    this.#urlState.set({ draw: change && [temperature, topK, topP, seed].join() });
  }

  undo() {
    this.#urlState.set({ mask: null, heads: null, draw: null });
  }
}

export const createWeightChanges = (stores: Stores) =>
  new WeightChanges(stores.get(createUrlState), stores.get(createTranslation));
