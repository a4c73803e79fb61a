// What the visitor looks at: a kind of attention, a layer and a head, and what is pointed at.
import { selectMap, type Head, type Kind } from '../attention';
import type { Form } from '../drawing';
import { translation, type Shown } from './translation.svelte';

/** A step (row), a source piece (column), or a cell (both). */
export interface Focus {
  row: number | null;
  column: number | null;
}

export const NOTHING: Focus = { row: null, column: null };

class Look {
  kind = $state<Kind>('cross');
  form = $state<Form>('heat');
  #choices = $state.raw<Partial<Record<Kind, { layer: number; head: Head }>>>({});
  #pointed = $state.raw<{ focus: Focus; shown: Shown | null }>({ focus: NOTHING, shown: null });

  /** What was pointed at in another translation may lie outside of this one. */
  readonly focus = $derived(this.#pointed.shown === translation.shown ? this.#pointed.focus : NOTHING);
  readonly #cross = $derived(translation.shown?.attention.cross);
  /** The cross-attention of the chosen layer and head. */
  readonly map = $derived.by(() => {
    const { layer, head } = this.chosen('cross');
    return this.#cross && selectMap(this.#cross, layer, head);
  });

  /** The chosen layer and head of a kind, within what the model has; at first the last layer's mean. */
  chosen(kind: Kind): { layer: number; head: Head } {
    const maps = translation.shown?.attention[kind];
    const { layer, head } = this.#choices[kind] ?? { layer: Infinity, head: 'mean' };
    if (!maps) return { layer: 0, head: 'mean' };
    return { layer: Math.min(layer, maps.layers - 1), head: head !== 'mean' && head >= maps.heads ? 'mean' : head };
  }

  choose(kind: Kind, layer: number, head: Head) {
    this.#choices = { ...this.#choices, [kind]: { layer, head } };
  }

  at(row: number | null, column: number | null) {
    if (row === this.focus.row && column === this.focus.column) return;
    this.#pointed = { focus: { row, column }, shown: translation.shown };
  }

  away() {
    this.#pointed = { focus: NOTHING, shown: null };
  }
}

export const look = new Look();
