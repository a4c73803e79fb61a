// Runs of text with inline markup, in HTML and live pages alike. H is how the caller knows an element.

const words = (text: string) => new Set(text.split(' '));
/** Elements that are part of a sentence; all others end it. */
export const inline = words(`a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math nobr
  output q s samp small span strike strong sub sup svg time tt u var wbr`.replace(/\s+/g, ' '));
/** Elements that are kept as they are, with everything inside. */
export const kept = words(`applet audio canvas code iframe kbd math noembed noframes noscript object plaintext pre samp
  script style svg template textarea var video xmp`.replace(/\s+/g, ' '));
/** Elements that are never copied: a copy would be a second control or a second link target. */
export const single = words('a label output svg');

/** What a `translate` attribute says, as the HTML standard reads it; undefined: nothing. */
export function saysTranslate(value: string | null | undefined): boolean | undefined {
  const word = value?.toLowerCase();
  if (word === 'no') return false;
  return word === 'yes' || word === '' ? true : undefined;
}

/** Part of a run before translation; parts are in the order of the text. */
export type Item<H> =
  | { kind: 'text'; text: string }
  | { kind: 'open'; handle: H; isSingle: boolean }
  | { kind: 'close' }
  /** Has no text to translate; `isSeen`: a reader sees it between words. */
  | { kind: 'atom'; handle: H; isSeen: boolean };

/** Part of a translated run; `isCopy`: the element has been placed already. */
export type Piece<H> =
  | { kind: 'text'; text: string }
  | { kind: 'open'; handle: H; isCopy: boolean }
  | { kind: 'close'; handle: H }
  | { kind: 'atom'; handle: H };

/** An element in a run, or what has no text. */
export interface Mark<H> {
  handle: H;
  parent: Mark<H> | undefined;
  /** Positions in the run's text. */
  start: number;
  end: number;
  isAtom: boolean;
  isSeen: boolean;
  isSingle: boolean;
  hasSpace: { before: boolean; after: boolean };
  isTied: boolean; // to the word before it
  /** The marks in an element that lost all its words. */
  inside: Mark<H>[];
}

/** Text without a letter has nothing to translate. */
export const isTranslatable = (text: string) => /\p{L}/u.test(text);
const isSpace = (character = '') => /\s/.test(character);
const isWordLike = (character: string | undefined) => character !== undefined && /[^\s,.(){}[\]]/.test(character);

/** Text as a page shows it, and the elements in it. */
export class InlineRun<H> {
  text = '';
  /** In the order in which they open. */
  readonly marks: Mark<H>[] = [];

  constructor(items: readonly Item<H>[]) {
    const open: Mark<H>[] = [];
    let pending: Mark<H>[] = []; // atoms since the last text
    for (const item of items) {
      if (item.kind === 'text') {
        this.#add(item.text.replace(/\u00ad/g, ''), pending);
        pending = [];
      } else if (item.kind === 'close') {
        const mark = open.pop()!;
        mark.end = this.text.length;
        if (mark.end > mark.start) continue;
        mark.isAtom = true; // nothing in it to translate: it moves as a whole
        const inside = new Set(this.marks.splice(this.marks.lastIndexOf(mark) + 1));
        mark.isSeen = [...inside].some(({ isSeen }) => isSeen);
        if (inside.size > 0) pending = pending.filter((atom) => !inside.has(atom));
        pending.push(mark);
      } else {
        const [isAtom, last] = [item.kind === 'atom', pending.at(-1)];
        const mark: Mark<H> = {
          handle: item.handle, parent: open.at(-1), start: this.text.length, end: this.text.length, isAtom, inside: [],
          isSeen: item.kind === 'atom' && item.isSeen, isSingle: item.kind === 'open' && item.isSingle, isTied: false,
          hasSpace: { before: last ? last.hasSpace.before && !last.isSeen : isSpace(this.text.at(-1)), after: false },
        };
        this.marks.push(mark);
        (isAtom ? pending : open).push(mark);
      }
    }
  }

  #add(text: string, atoms: Mark<H>[]): void {
    let added = text.replace(/[ \t\n\f\r]+/g, ' ');
    if (added === '') return;
    const seen = atoms.filter(({ isSeen }) => isSeen).at(-1);
    if (seen) seen.hasSpace.after = isSpace(added[0]);
    for (const atom of atoms) atom.isTied = isSpace(added[0]) && !isSpace(this.text.at(-1));
    if (this.text.endsWith(' ')) added = added.replace(/^ /, '');
    else if (seen && isWordLike(this.text.at(-1)) && isWordLike(added[0])) this.text += ' ';
    this.text += added;
  }
}
