// Runs of text with inline markup, in HTML and live pages alike: taken apart before translation, and put back together
// afterwards using the alignments. H is how the caller knows an element.
import { joinSentence, splitSentences, type SentencePart } from '../shared/sentences.js';
import type { SentenceTranslation, SentenceTranslator } from '../shared/webpage-types.js';

const words = (text: string) => new Set(text.split(' '));
/** Elements that are part of a sentence; all others end it. */
export const inline = words(`a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math nobr
  output q s samp small span strike strong sub sup svg time tt u var wbr`.replace(/\s+/g, ' '));
/** Elements that are kept as they are, with everything inside. */
export const kept = words(`applet audio canvas code iframe kbd math noembed noframes noscript object plaintext pre samp
  script style svg template textarea var video xmp`.replace(/\s+/g, ' '));
/** Elements that are never copied: a copy would be a second control or a second link target. */
export const single = words('a label output svg');

/** What a run is made of, in order. */
export type Item<H> =
  | { kind: 'text'; text: string }
  | { kind: 'open'; handle: H; isSingle: boolean }
  | { kind: 'close' }
  /** Has no text to translate; `isSeen`: a reader sees it between words. */
  | { kind: 'atom'; handle: H; isSeen: boolean };

/** What comes back; `isCopy`: the element has been placed already. */
export type Piece<H> =
  | { kind: 'text'; text: string }
  | { kind: 'open'; handle: H; isCopy: boolean }
  | { kind: 'close'; handle: H }
  | { kind: 'atom'; handle: H };

interface Mark<H> {
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
export class Run<H> {
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

/** A sentence with its translation; `isSame`: it was not translated. */
interface Placed extends SentencePart {
  joint: string;
  found: SentenceTranslation;
  isSame: boolean;
}

interface Word<H> {
  text: string;
  /** White space before it. */
  space: string;
  /** The position in the run's text that it comes from. */
  source: number;
  sentence: number;
  isPunctuation: boolean;
  stack: Mark<H>[];
  /** How much of the word comes from these source positions, to place elements that no word fell into. */
  share(start: number, end: number): number;
}

const isPunctuation = (text: string) => !/[\p{L}\p{N}]/u.test(text);

function segments(text: string, language: string | undefined): { text: string; start: number }[] {
  try {
    const segmenter = new Intl.Segmenter(language, { granularity: 'word' });
    return Array.from(segmenter.segment(text), ({ segment, index }) => ({ text: segment, start: index }));
  } catch { // no Segmenter, or no language of that name
    return Array.from(text.matchAll(/[\p{L}\p{M}\p{N}]+|\s+|[^]/gu), ({ 0: text, index }) => ({ text, start: index }));
  }
}

/** The words of a translated sentence with the source token that each comes from. */
function wordsOf<H>({ found, begin, source, isSame, joint }: Placed, sentence: number, language?: string): Word<H>[] {
  const all: Word<H>[] = [];
  let space = joint;
  const { source: from, target: to, data } = found.alignment ?? { source: [], target: [], data: [] };
  for (const { text, start } of segments(found.text, language)) {
    if (text.trim() === '') {
      space += text;
      continue;
    }
    const row = from.map(() => 0);
    to.forEach((range, i) => {
      const isInside = range.end > range.start && range.start < start + text.length && range.end > start;
      if (isInside) from.forEach((_, j) => (row[j]! += data[i * from.length + j]!));
    });
    const total = row.reduce((sum, value) => sum + value, 0) || 1;
    let best = -1;
    row.forEach((value, j) => {
      if (from[j]!.end > from[j]!.start && (best < 0 || value > row[best]!)) best = j;
    });
    const at = isSame ? start : best < 0 ? 0 : from[best]!.start;
    all.push({
      text, space, sentence, source: begin + at, isPunctuation: isPunctuation(text), stack: [],
      share: (a, b) => row.reduce((sum, value, j) => sum + (begin + from[j]!.start < b && begin + from[j]!.end > a ? value : 0), 0) / total,
    });
    space = '';
  }
  // Final punctuation stays final.
  const last = all.at(-1);
  if (last?.isPunctuation && isPunctuation(source.at(-1)!)) last.source = begin + source.length - 1;
  return all;
}

/** How many elements two stacks share, from the outside. */
function shared<H>(a: readonly Mark<H>[], b: readonly Mark<H>[]): number {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count++;
  return count;
}

const pathOf = <H>(mark: Mark<H>): Mark<H>[] => (mark.parent ? [...pathOf(mark.parent), mark.parent] : []);
const has = <H>(stack: Mark<H>[], path: Mark<H>[]) => shared(stack, path) === path.length;

/** Stretches [first, last] of the words that are in the element. */
function stretchesOf<H>(all: Word<H>[], inside: number[], mark: Mark<H>, path: Mark<H>[]): [number, number][] {
  const stretches: [number, number][] = [];
  // A word in between may belong to it too, such as an article that the source lacks.
  const mayJoin = (word: Word<H>) => word.isPunctuation
    || (word.stack.length === path.length && has(word.stack, path) && word.share(mark.start, mark.end) >= 0.2);
  for (const i of inside) {
    const last = stretches.at(-1);
    let at = last ? last[1] + 1 : i;
    while (at < i && mayJoin(all[at]!)) at++;
    if (last && at === i) {
      for (const word of all.slice(last[1] + 1, i)) word.stack = [...path, mark];
      last[1] = i;
    } else stretches.push([i, i]);
  }
  return stretches;
}

/** Gives each word the elements around it; returns the elements that got no word. */
function assign<H>(run: Run<H>, all: Word<H>[]): Set<Mark<H>> {
  const elements = run.marks.filter((mark) => !mark.isAtom);
  const around = new Array<Mark<H>[] | undefined>(run.text.length); // each character
  for (const mark of elements) around.fill([...pathOf(mark), mark], mark.start, mark.end);
  const members = new Map(elements.map((mark) => [mark, [] as number[]]));
  all.forEach((word, i) => {
    word.stack = word.isPunctuation ? [] : [...(around[word.source] ?? [])];
    for (const mark of word.stack) members.get(mark)!.push(i);
  });
  const lost = new Set<Mark<H>>();
  for (const mark of elements) {
    const path = pathOf(mark);
    const inside = members.get(mark)!.filter((i) => all[i]!.stack.includes(mark));
    if (inside.length === 0) {
      const isSign = isPunctuation(run.text.slice(mark.start, mark.end));
      const free = all.filter((word) => word.isPunctuation === isSign && word.stack.length === path.length && has(word.stack, path));
      const shares = free.map((word) => word.share(mark.start, mark.end));
      const most = Math.max(...shares);
      if (most >= 0.1) free[shares.indexOf(most)]!.stack.push(mark);
      else lost.add(mark);
      continue;
    }
    const stretches = stretchesOf(all, inside, mark, path);
    if (!mark.isSingle || stretches.length < 2) continue;
    const longest = stretches.reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a));
    for (const [first, last] of stretches) {
      if (first !== longest[0]) for (const { stack } of all.slice(first, last + 1)) stack.length = path.length;
    }
  }
  all.forEach((word, i) => {
    if (!word.isPunctuation || word.stack.length > 0) return;
    const neighbour = (step: 1 | -1) => {
      let at = i + step;
      while (all[at]?.isPunctuation) at += step;
      return all[at]?.sentence === word.sentence ? all[at] : undefined;
    };
    const [before, after] = [neighbour(-1), neighbour(1)];
    if (before && after) word.stack = before.stack.slice(0, shared(before.stack, after.stack));
    else word.stack = ((before ?? after)?.stack ?? []).filter((mark) => mark.start <= word.source && word.source < mark.end);
  });
  return lost;
}

/** Where an element without words goes: before word `at`, or after the one before it. */
function slotOf<H>(mark: Mark<H>, path: Mark<H>[], all: Word<H>[], placed: Placed[]): { at: number; isAfter: boolean } {
  const sentence = Math.max(0, placed.filter(({ begin }) => begin <= mark.start).length - 1);
  const inPath = [...all.keys()].filter((i) => has(all[i]!.stack, path));
  const near = inPath.filter((i) => all[i]!.sentence === sentence);
  const candidates = near.length > 0 ? near : inPath;
  const pick = (chosen: number[], isBetter: (a: number, b: number) => boolean) =>
    chosen.reduce((best, i) => (best < 0 || isBetter(all[i]!.source, all[best]!.source) ? i : best), -1);
  const next = pick(candidates.filter((i) => all[i]!.source >= mark.start), (a, b) => a < b);
  const previous = pick(candidates.filter((i) => all[i]!.source < mark.start), (a, b) => a >= b);
  const isAfter = previous >= 0 && (next < 0 || mark.isTied);
  let at = isAfter ? (next < 0 ? candidates.at(-1)! : previous) + 1 : previous < 0 ? (candidates[0] ?? 0) : next;
  // Never move it into an element that it was outside of.
  const isWithin = () => at > 0 && at < all.length && shared(all[at - 1]!.stack, all[at]!.stack) > path.length;
  while (isWithin()) at += isAfter ? 1 : -1;
  return { at, isAfter };
}

/** The run, put together from its translated sentences. */
function put<H>(run: Run<H>, placed: Placed[], tail: string, language?: string): Piece<H>[] {
  const all = placed.flatMap((one, i) => wordsOf<H>(one, i, language));
  const lost = assign(run, all);
  const slots = Array.from({ length: all.length + 1 }, (): { mark: Mark<H>; path: Mark<H>[]; isAfter: boolean }[] => []);
  for (const mark of run.marks) {
    if (!mark.isAtom && !lost.has(mark)) continue;
    if (mark.parent && lost.has(mark.parent)) {
      mark.parent.inside.push(mark);
      continue;
    }
    const path = pathOf(mark);
    const { at, isAfter } = slotOf(mark, path, all, placed);
    slots[at]!.push({ mark, path, isAfter });
  }
  const pieces: Piece<H>[] = [];
  const opened = new Set<Mark<H>>();
  let stack: Mark<H>[] = [];
  const write = (text: string) => void (text !== '' && pieces.push({ kind: 'text', text }));
  const open = (mark: Mark<H>) =>
    void (pieces.push({ kind: 'open', handle: mark.handle, isCopy: opened.has(mark) }), opened.add(mark));
  const leave = (next: Mark<H>[]) => {
    for (const count = shared(stack, next); stack.length > count;) pieces.push({ kind: 'close', handle: stack.pop()!.handle });
  };
  const go = (next: Mark<H>[]) => {
    leave(next);
    next.slice(stack.length).forEach(open);
    stack = [...next];
  };
  const writeMark = (mark: Mark<H>) => {
    if (mark.isAtom) return void pieces.push({ kind: 'atom', handle: mark.handle });
    open(mark);
    mark.inside.forEach(writeMark);
    pieces.push({ kind: 'close', handle: mark.handle });
  };
  for (const [i, here] of slots.entries()) {
    const word = all[i];
    let space = word?.space ?? tail;
    const writeSpace = () => void (write(space), space = '');
    for (const { mark, path } of here.filter(({ isAfter }) => isAfter)) {
      go(path);
      if (mark.hasSpace.before && mark.isSeen) space ||= ' ';
      if (mark.hasSpace.before) writeSpace();
      writeMark(mark);
      if (mark.isSeen && mark.hasSpace.after) space ||= ' ';
    }
    const before = here.filter(({ isAfter }) => !isAfter);
    leave(before[0]?.path ?? word?.stack ?? []);
    for (const { mark, path } of before) {
      writeSpace();
      go(path);
      writeMark(mark);
      if (mark.isSeen && mark.hasSpace.after) space = ' ';
    }
    leave(word?.stack ?? []);
    writeSpace();
    go(word?.stack ?? []);
    write(word?.text ?? '');
  }
  return pieces;
}

const batchSize = 32;

/** Sentences with more tokens than the model takes are left untranslated. */
async function translateBatch<Found extends SentenceTranslation>(
  batch: string[], translator: SentenceTranslator<Found>, options: object,
): Promise<(Found | undefined)[]> {
  try {
    return await translator.translate(batch, { ...options, alignment: true });
  } catch (error) {
    if (!(error instanceof Error && /tokens.*the model takes/.test(error.message))) throw error;
    if (batch.length === 1) return [undefined];
    const half = batch.length >> 1;
    const first = await translateBatch(batch.slice(0, half), translator, options);
    return [...first, ...await translateBatch(batch.slice(half), translator, options)];
  }
}

/**
 * Translates runs, each distinct sentence once, and passes on each run's pieces as soon as its last sentence is ready.
 * Options besides `signal` go to translate().
 */
export async function translateRuns<H, Found extends SentenceTranslation>(
  runs: readonly Run<H>[], translator: SentenceTranslator<Found>, options: { signal?: AbortSignal },
  take: (pieces: Piece<H>[], run: number) => void,
): Promise<Map<string, Found | undefined>> {
  const [source, target] = (translator.info.languages || '-').split('-').map((code) => code || undefined);
  const cut = runs.map(({ text }) => splitSentences(text, source, translator.info.config?.max_length));
  const found = new Map<string, Found | undefined>();
  let next = 0;
  const finish = () => {
    for (; next < runs.length; next++) {
      const { parts, tail } = cut[next]!;
      if (parts.some((part) => isTranslatable(part.source) && !found.has(part.source))) return;
      const placed = parts.map((part) => {
        const translation = found.get(part.source);
        const isSame = translation === undefined;
        return { ...part, joint: isSame ? part.gap : joinSentence(part, target), found: translation ?? { text: part.source }, isSame };
      });
      take(put(runs[next]!, placed, tail, target), next);
    }
  };
  const wanted = [...new Set(cut.flatMap(({ parts }) => parts.map((part) => part.source)).filter(isTranslatable))];
  for (let i = 0; i < wanted.length; i += batchSize) {
    options.signal?.throwIfAborted();
    const batch = wanted.slice(i, i + batchSize);
    const translations = await translateBatch(batch, translator, options);
    batch.forEach((sentence, k) => found.set(sentence, translations[k]!));
    finish();
  }
  options.signal?.throwIfAborted();
  finish();
  return found;
}
