// What the visitor looks at: a layer and a head, and what is pointed at.
import { selectMap, type Head } from '../attention';
import { translation, type Shown } from './translation.svelte';

/** A step (row), a source piece (column), or a cell (both). */
export interface Focus {
  row: number | null;
  column: number | null;
}

const NOTHING: Focus = { row: null, column: null };

class Look {
  layer = $state<number | null>(null); // null: the last
  head = $state<Head>('mean');
  #pointed = $state.raw<{ focus: Focus; shown: Shown | null }>({ focus: NOTHING, shown: null });

  /** What was pointed at in another translation may lie outside of this one. */
  readonly focus = $derived(this.#pointed.shown === translation.shown ? this.#pointed.focus : NOTHING);
  readonly cross = $derived(translation.shown?.attention.cross);
  readonly shownLayer = $derived(this.cross ? Math.min(this.layer ?? Infinity, this.cross.layers - 1) : 0);
  readonly shownHead = $derived<Head>(
    this.head !== 'mean' && this.cross && this.head >= this.cross.heads ? 'mean' : this.head,
  );
  /** The cross-attention of the chosen layer and head. */
  readonly map = $derived(this.cross && selectMap(this.cross, this.shownLayer, this.shownHead));

  at(row: number | null, column: number | null) {
    if (row === this.focus.row && column === this.focus.column) return;
    this.#pointed = { focus: { row, column }, shown: translation.shown };
  }

  away() {
    this.#pointed = { focus: NOTHING, shown: null };
  }
}

export const look = new Look();
