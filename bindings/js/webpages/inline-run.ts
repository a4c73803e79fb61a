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

/** Elements for footnote marks, exponents and indices. */
export const scripts = words('sub sup');

/** Value of a `translate` attribute, as the HTML standard reads it; undefined: nothing. */
export function saysTranslate(value: string | null | undefined): boolean | undefined {
  const word = value?.toLowerCase();
  if (word === 'no') return false;
  return word === 'yes' || word === '' ? true : undefined;
}

/** Part of a run before translation; parts are in the order of the text. */
export type Item<H> =
  /** `keeps`: the line breaks that a page shows, or all white space. */
  | { kind: 'text'; text: string; keeps?: 'lines' | 'all' }
  | { kind: 'open'; handle: H; isSingle: boolean; isScript: boolean }
  | { kind: 'close' }
  /** Has no text to translate; `isSeen`: a reader sees it between words; `isTied`: it belongs to the word before. */
  | { kind: 'atom'; handle: H; isSeen: boolean; isTied?: boolean };

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
  isScript: boolean;
  hasSpace: { before: boolean; after: boolean };
  isTied: boolean; // to the word before it
  /** The marks in an element that lost all its words. */
  inside: Mark<H>[];
}

/** Text without a letter has nothing to translate. */
export const isTranslatable = (text: string) => /\p{L}/u.test(text);
const isSpace = (character = '') => /\s/.test(character);
const isWordLike = (character: string | undefined) => character !== undefined && /[^\s,.(){}[\]]/.test(character);

/** The character beside items[at] in the text, before it (step -1) or after it; '' if something else is there. */
function beside(items: readonly Item<unknown>[], at: number, step: 1 | -1): string {
  for (let i = at + step; items[i]; i += step) {
    const item = items[i]!;
    if (item.kind === 'atom' || (item.kind === 'open' && item.isScript && step > 0)) return '';
    if (item.kind === 'text' && item.text !== '') return item.text.at(step > 0 ? 0 : -1)!;
  }
  return '';
}

/** Index at which the element that opens at `at` is closed. */
function endOf(items: readonly Item<unknown>[], at: number): number {
  let depth = 0;
  for (let i = at; i < items.length; i++) {
    if (items[i]!.kind === 'open') depth++;
    if (items[i]!.kind === 'close' && --depth === 0) return i;
  }
  return items.length - 1;
}

/**
 * The items, where marks of footnotes and exponents, such as ¹, [2] and m², move as a whole with the word before. Those
 * inside a word, such as in H₂O, are part of it.
 */
function withNotes<H>(items: readonly Item<H>[]): Item<H>[] {
  const all: Item<H>[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    all.push(item);
    if (item.kind !== 'open' || !item.isScript) continue;
    const end = endOf(items, i);
    const hasLetters = items.slice(i, end).some((inside) => inside.kind === 'text' && isTranslatable(inside.text));
    if (hasLetters || !/\S/.test(beside(items, i, -1)) || /[\p{L}\p{N}]/u.test(beside(items, end, 1))) continue;
    all[all.length - 1] = { kind: 'atom', handle: item.handle, isSeen: false, isTied: true };
    i = end;
  }
  return all;
}

/** Text as a page shows it, and the elements in it. */
export class InlineRun<H> {
  text = '';
  /** In the order in which they open. */
  readonly marks: Mark<H>[] = [];

  constructor(items: readonly Item<H>[]) {
    const open: Mark<H>[] = [];
    let pending: Mark<H>[] = []; // atoms since the last text
    for (const item of withNotes(items)) {
      if (item.kind === 'text') {
        this.#add(item.text.replace(/\u00ad/g, ''), item.keeps, pending);
        pending = [];
      } else if (item.kind === 'close') pending = this.#close(open.pop()!, pending);
      else {
        const mark = this.#markOf(item, open.at(-1), pending.at(-1));
        this.marks.push(mark);
        (mark.isAtom ? pending : open).push(mark);
      }
    }
  }

  #markOf(
    item: Extract<Item<H>, { handle: H }>, parent: Mark<H> | undefined, last: Mark<H> | undefined,
  ): Mark<H> {
    const start = this.text.length;
    const before = last ? last.hasSpace.before && !last.isSeen : isSpace(this.text.at(-1));
    const own = item.kind === 'open'
      ? { isAtom: false, isSeen: false, isTied: false, isSingle: item.isSingle, isScript: item.isScript }
      : { isAtom: true, isSeen: item.isSeen, isTied: item.isTied === true, isSingle: false, isScript: false };
    const hasSpace = { before, after: false };
    return { ...own, handle: item.handle, parent, start, end: start, hasSpace, inside: [] };
  }

  /** Ends an element; returns the atoms since the last text. */
  #close(mark: Mark<H>, pending: Mark<H>[]): Mark<H>[] {
    mark.end = this.text.length;
    if (mark.end > mark.start) return pending;
    mark.isAtom = true; // nothing in it to translate: it moves as a whole
    const inside = new Set(this.marks.splice(this.marks.lastIndexOf(mark) + 1));
    mark.isSeen = [...inside].some(({ isSeen }) => isSeen);
    mark.isTied = [...inside].some(({ isTied }) => isTied);
    const rest = inside.size > 0 ? pending.filter((atom) => !inside.has(atom)) : pending;
    rest.push(mark);
    return rest;
  }

  #add(text: string, keeps: 'lines' | 'all' | undefined, atoms: Mark<H>[]): void {
    let added = folded(text, keeps);
    if (added === '') return;
    const seen = atoms.filter(({ isSeen }) => isSeen).at(-1);
    if (seen) seen.hasSpace.after = isSpace(added[0]);
    for (const atom of atoms) atom.isTied ||= isSpace(added[0]) && !isSpace(this.text.at(-1));
    if (this.text.endsWith(' ') && keeps !== 'all') added = added.replace(/^ /, '');
    else if (seen && isWordLike(this.text.at(-1)) && isWordLike(added[0])) this.text += ' ';
    this.text += added;
  }
}

/** White space as a page shows it. */
function folded(text: string, keeps: 'lines' | 'all' | undefined): string {
  if (keeps === 'all') return text;
  if (keeps === 'lines') return text.replace(/[ \t\f\r]*\n[ \t\f\r]*/g, '\n').replace(/[ \t\f\r]+/g, ' ');
  return text.replace(/[ \t\n\f\r]+/g, ' ');
}
