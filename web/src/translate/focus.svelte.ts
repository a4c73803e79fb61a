// Attention that the visitor looks at: a kind, a layer and a head, which the address has too, counted from 1 as on the
// page (kind=decoder&form=lines&decoder=1.3), and the row and column that are pointed at.
import {
  KINDS,
  NOTHING,
  selectMap,
  within,
  type AttentionMap,
  type Focus,
  type Head,
  type Kind,
} from '../shared/attention/attention';
import { FAINTEST, type Form } from '../shared/attention/drawing';
import { createUrlState, type UrlState } from '../shell/url-state.svelte';
import { createTranslation, type Shown, type TranslationStore } from './translation.svelte';
import type { Stores } from '../shared/stores.svelte';

export const MOST_FAINT = 50; // percent

interface Pointed {
  focus: Focus;
  shown: Shown | null;
}
const NOWHERE: Pointed = { focus: NOTHING, shown: null };

export class AttentionFocus {
  readonly #urlState!: UrlState;
  readonly #translation!: TranslationStore;
  readonly #kind = $derived(KINDS.find((kind) => kind === this.#urlState.parameters.kind) ?? 'cross');
  readonly form = $derived<Form>(this.#urlState.parameters.form === 'lines' ? 'lines' : 'heat');
  #pointed = $state.raw<Pointed>(NOWHERE);
  /** Tokens that stay lit while nothing else is pointed at. */
  #held: Pointed = NOWHERE;

  /** Heads of the chosen layer whose lines are drawn in colors, in place of their mean: colors=1.3. */
  readonly heads = $derived(this.form === 'lines' && this.chosen(this.kind).head === 'mean' ? this.#colored() : []);
  /** Fainter links are not drawn; least=10 is in percent. */
  readonly faintest = $derived(
    (Math.min(MOST_FAINT, Math.max(1, Math.round(Number(this.#urlState.parameters.least)))) || 100 * FAINTEST) / 100,
  );

  /** The sentence whose pieces are shown because the pointer is in it. */
  hovered = $state<number | null>(null);

  /** Row and column that are pointed at in the chosen sentence. */
  readonly focus = $derived(this.focusOf(this.#translation.shown));
  /** The cross-attention of the chosen layer and head. */
  readonly map = $derived(this.#translation.shown ? this.#crossOf(this.#translation.shown) : null);
  readonly #pointedMap = $derived(this.#pointed.shown && this.#crossOf(this.#pointed.shown));

  constructor(urlState: UrlState, translation: TranslationStore) {
    this.#urlState = urlState;
    this.#translation = translation;
  }

  get kind() {
    return this.#translation.shown?.attention[this.#kind].layers === 0 ? 'cross' : this.#kind;
  }

  show(what: { kind?: Kind; form?: Form }) {
    const { kind = this.#kind, form = this.form } = what;
    this.#urlState.set({ kind: kind === 'cross' ? null : kind, form: form === 'heat' ? null : form });
  }

  /** The chosen layer and head of a kind, within what the model has; at first the last layer's mean. */
  chosen(kind: Kind): { layer: number; head: Head } {
    const maps = this.#translation.shown?.attention[kind];
    const [, layer = Infinity, head = 'mean'] =
      /^([1-9]\d*)\.([1-9]\d*|mean)$/.exec(this.#urlState.parameters[kind] ?? '') ?? [];
    return maps
      ? within(maps, Number(layer) - 1, head === 'mean' ? head : Number(head) - 1)
      : { layer: 0, head: 'mean' };
  }

  choose(kind: Kind, layer: number, head: Head) {
    const isFirst = head === 'mean' && layer + 1 === this.#translation.shown?.attention[kind].layers;
    this.#urlState.set({ [kind]: isFirst ? null : `${layer + 1}.${head === 'mean' ? head : head + 1}` });
  }

  /** Draws the lines of these heads in colors. */
  colour(heads: readonly number[]) {
    this.choose(this.kind, this.chosen(this.kind).layer, 'mean');
    this.#urlState.set({
      colors:
        heads
          .map((head) => head + 1)
          .sort((a, b) => a - b)
          .join('.') || null,
    });
  }

  hideBelow(percent: number) {
    this.#urlState.set({ least: percent === 100 * FAINTEST ? null : String(percent) });
  }

  #colored(): number[] {
    const count = this.#translation.shown?.attention[this.kind].heads ?? 0;
    const numbers = new Set((this.#urlState.parameters.colors ?? '').split('.').map((text) => Number(text) - 1));
    return Array.from({ length: count }, (_, head) => head).filter((head) => numbers.has(head));
  }

  at(row: number | null, column: number | null, shown = this.#translation.shown) {
    const before = this.focusOf(shown);
    if (row !== before.row || column !== before.column) this.#pointed = { focus: { row, column }, shown };
  }

  away() {
    this.#pointed = this.#held;
  }

  /** Keeps a row lit, as long as something about it is open. */
  hold(row: number) {
    this.at(row, null);
    this.#held = this.#pointed;
  }

  release() {
    this.#held = NOWHERE;
    this.away();
  }

  /** Returns the focus if it is in this translation; one in another translation may lie outside of this one. */
  focusOf(shown: Shown | null): Focus {
    return this.#pointed.shown === shown ? this.#pointed.focus : NOTHING;
  }

  /** How strongly a piece is lit: by attention if its counterpart is pointed at, fully if it is itself. */
  weight(shown: Shown, side: 'source' | 'target', token: number): number {
    const { row, column } = this.focusOf(shown);
    const map = this.#pointedMap;
    if (!map) return 0;
    const [own, other] = side === 'source' ? [column, row] : [row, column];
    if (other === null) return own === token ? 1 : 0;
    if (side === 'target' && own !== null) return own === token ? 1 : 0;
    return side === 'source' ? map.data[other * map.columns + token] : map.data[token * map.columns + other];
  }

  #crossOf(shown: Shown): AttentionMap {
    const { layer, head } = this.chosen('cross');
    return selectMap(
      shown.attention.cross,
      layer,
      this.kind === 'cross' && this.heads.length > 0 ? this.heads : head,
    );
  }
}

export const createAttentionFocus = (stores: Stores) =>
  new AttentionFocus(stores.get(createUrlState), stores.get(createTranslation));
