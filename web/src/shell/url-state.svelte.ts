// The address: #VIEW?text=…&model=…, and what a view adds; the lecture has its stops, #lecture/STOP. A link restores what it says.
import { pageWords } from '../shared/words/words';

export const views = [
  'translate',
  'classify',
  'picture',
  'attention',
  'backwards',
  'beam',
  'intervene',
  'code',
  'lecture',
  'laboratory',
  'train',
  'models',
  'about',
] as const;
export type View = (typeof views)[number];
export const viewName = (view: View) => pageWords(`view_${view}`);

/** The views of each place that the navigation names; the first is where it leads. */
export const PLACES = {
  translate: ['translate', 'classify'],
  inside: ['picture', 'attention', 'beam', 'intervene', 'backwards', 'code'],
  lecture: ['lecture'],
  laboratory: ['laboratory'],
  train: ['train'],
  models: ['models'],
  about: ['about'],
} as const satisfies Readonly<Record<string, readonly View[]>>;
export type Place = keyof typeof PLACES;
export const places = Object.keys(PLACES) as readonly Place[];
export const viewsOf = (place: Place): readonly View[] => PLACES[place];
export const placeOf = (view: View): Place => places.find((place) => viewsOf(place).includes(view))!;
export const placeName = (place: Place) => (place === 'inside' ? pageWords('inside') : viewName(PLACES[place][0]));

/** Names that links have besides those of the views. */
const ALIASES: Readonly<Record<string, View>> = { steps: 'picture', inside: 'picture', lab: 'laboratory' };

/** Clears what belongs to one sentence and one model: hidden words, and how translations begin. */
export const NOT_OF_OTHERS = { mask: null, begin: null, from: null };

/** Parameters that only one view reads. */
const OF_ONE_VIEW: Readonly<Record<string, View>> = { setup: 'train', ablation: 'laboratory' };

export class UrlState {
  view = $state<View>('translate');
  /** Stop of the lecture in the address: lecture/STOP. It stays while other views are open. */
  stop = $state('');
  parameters = $state.raw<Record<string, string>>({});
  /** Counts up when the address was changed by a link or a step in the history. */
  arrivals = $state(0);

  #timer: ReturnType<typeof setTimeout> | undefined;
  /** A link of the page was pressed, which is about to change the address. */
  #isFollowed = false;
  /** The address that was last read or written. */
  #address = '';

  start() {
    this.#read();
    // A link that is followed leaves a complete address behind.
    addEventListener('click', ({ target }) => {
      if (this.#timer !== undefined) this.#write();
      this.#isFollowed = Boolean((target as Element).closest?.('a[href^="#"]'));
    }, { capture: true });
    addEventListener('hashchange', () => {
      const before = this.view;
      this.#read();
      // A step in the history returns to where the reader was; a link leads to the top of another view.
      if (this.#isFollowed && before !== this.view) scrollTo({ top: 0, behavior: 'instant' });
      this.#isFollowed = false;
      this.arrivals += 1;
    });
  }

  /** The address of a view that keeps everything else; other views ignore what is trained. */
  to(view: View, stop = this.stop): string {
    const isKept = ([name]: [string, string]) => (OF_ONE_VIEW[name] ?? view) === view;
    const query = new URLSearchParams(Object.entries(this.parameters).filter(isKept)).toString();
    const place = view === 'lecture' && stop ? `/${stop}` : '';
    return `#${view}${place}${query && `?${query}`}`;
  }

  /** Puts values into the address; null takes one out. It makes no step in the history. */
  set(changes: Record<string, string | null>) {
    this.#change(changes);
    // Browsers count these and refuse too many.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(), 300);
  }

  /** As set(), in a view, and as a step in the history: the browser's Back leads to what is shown now. */
  go(view: View, changes: Record<string, string | null>) {
    if (this.#timer !== undefined) this.#write();
    const isWritten = location.hash === this.#address;
    this.view = view;
    this.#change(changes);
    if (!isWritten || this.to(view) === location.hash) return;
    history.pushState(null, '', this.to(view));
    this.#address = location.hash;
  }

  #change(changes: Record<string, string | null>) {
    const all = Object.entries({ ...this.parameters, ...changes });
    this.parameters = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
  }

  #write() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Another address has just been followed, and is read in a moment.
    if (location.hash !== this.#address) return;
    history.replaceState(null, '', this.to(this.view));
    this.#address = location.hash;
  }

  #read() {
    this.#address = location.hash;
    const [path, query = ''] = location.hash.slice(1).split(/\?(.*)/s);
    const [view, stop] = path.split('/');
    if (view === 'lecture') this.stop = stop ?? '';
    this.view = views.find((known) => known === view) ?? ALIASES[view] ?? 'translate';
    this.parameters = Object.fromEntries(new URLSearchParams(query));
  }
}

export const createUrlState = () => new UrlState();
