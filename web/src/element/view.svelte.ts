import type { Attention, Translation } from 'wasmformer';
import { within, type Head } from '../shared/attention/attention';
import type { Form } from '../shared/attention/drawing';
import type { Locale } from '../shared/words/language';

/** State of an element: what it shows, and how. */
export class View {
  translation = $state.raw<Translation | null>(null);
  kind = $state<keyof Attention>('cross');
  form = $state<Form>('heat');
  locale = $state<Locale>('en');
  /** As they were asked for; no layer is the last one. */
  layer = $state<number | null>(null);
  head = $state<Head>('mean');

  /** The nearest that the maps have, where there are maps. */
  readonly chosen: { layer: number | null; head: Head } = $derived.by(() => {
    const maps = this.translation?.attention?.[this.kind];
    return maps ? within(maps, this.layer ?? Infinity, this.head) : { layer: this.layer, head: this.head };
  });
}
