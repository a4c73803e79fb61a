// Puts a run together from its translated sentences: the alignments say which words its elements go around.
import type { SentencePart } from '../shared/sentences.js';
import type { KeptPart } from '../shared/text-parts.js';
import type { Alignment, SentenceTranslation, TextRange } from '../shared/webpage-types.js';
import type { InlineRun, Mark, Piece } from './inline-run.js';

/** A sentence with its translation; `isSame`: it was not translated. */
export interface Placed extends SentencePart {
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
  /** Share of the word that comes from these source positions, to place elements that no word fell into. */
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

const noAlignment: Alignment = { source: [], target: [], data: new Float32Array() };

/** Contribution of each source token to the translation from `start` to `end`. */
function sourceShares({ source, target, data }: Alignment, start: number, end: number): number[] {
  const shares = source.map(() => 0);
  for (const [row, range] of target.entries()) {
    const isEmpty = range.end <= range.start;
    const overlaps = range.start < end && range.end > start;
    if (isEmpty || !overlaps) continue;
    const first = row * source.length;
    for (let token = 0; token < source.length; token++) shares[token]! += data[first + token]!;
  }
  return shares;
}

/** The source token that contributes most, of those that have text. */
function mainToken(source: readonly TextRange[], shares: readonly number[]): TextRange | undefined {
  let main: number | undefined;
  for (const [token, { start, end }] of source.entries()) {
    if (end <= start) continue;
    if (main === undefined || shares[token]! > shares[main]!) main = token;
  }
  return main === undefined ? undefined : source[main];
}

/** Fraction of all shares that belongs to tokens between two positions in the sentence. */
function shareBetween(source: readonly TextRange[], shares: readonly number[], start: number, end: number): number {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const inside = shares.filter((_, token) => source[token]!.start < end && source[token]!.end > start);
  return sum(inside) / (sum(shares) || 1);
}

/** Position in the source of a place in kept text, which may have had other separators. */
const placeInKept = ({ source, target }: Pick<KeptPart, 'source' | 'target'>, place: number) =>
  Math.min(source.start + place - target.start, source.end - 1);

/** The words of a translated sentence with the source token that each comes from. */
function wordsOf<H>({ found, begin, source, isSame, joint }: Placed, sentence: number, language?: string): Word<H>[] {
  const all: Word<H>[] = [];
  const alignment = found.alignment ?? noAlignment;
  let space = joint;
  for (const { text, start } of segments(found.text, language)) {
    if (text.trim() === '') {
      space += text;
      continue;
    }
    const kept = found.kept?.find(({ target }) => target.start <= start && start < target.end);
    const shares = sourceShares(alignment, start, start + text.length);
    const aligned = kept ? placeInKept(kept, start) : mainToken(alignment.source, shares)?.start ?? 0;
    all.push({
      text, space, sentence, source: begin + (isSame ? start : aligned), stack: [],
      isPunctuation: !kept && isPunctuation(text),
      share: (from, to) => shareBetween(alignment.source, shares, from - begin, to - begin),
    });
    space = '';
  }
  keepFinalPunctuation(all.at(-1), source, begin);
  return all;
}

/** Cuts words that were copied where an index or exponent in them begins or ends, as in H₂O. */
function cutAtScripts<H>(run: InlineRun<H>, all: Word<H>[]): Word<H>[] {
  const inWords = run.marks.filter(({ isScript, isAtom }) => isScript && !isAtom);
  const edges = inWords.flatMap(({ start, end }) => [start, end]);
  if (edges.length === 0) return all;
  return all.flatMap((word) => {
    const begin = run.text.slice(0, word.source).search(/[\p{L}\p{N}]*$/u);
    const end = begin + word.text.length;
    const inside = edges.filter((edge) => begin < edge && edge < end);
    if (!run.text.startsWith(word.text, begin) || inside.length === 0) return word;
    const places = [...new Set([begin, ...inside, end])].sort((a, b) => a - b);
    return places.slice(0, -1).map((source, i): Word<H> =>
      ({ ...word, source, text: run.text.slice(source, places[i + 1]), space: i === 0 ? word.space : '' }));
  });
}

/** Final punctuation stays final. */
function keepFinalPunctuation(last: Word<unknown> | undefined, source: string, begin: number): void {
  const endsWithPunctuation = isPunctuation(source.at(-1)!);
  if (last?.isPunctuation && endsWithPunctuation) last.source = begin + source.length - 1;
}

/** Number of elements that two stacks share, from the outside. */
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

/** Puts a mark that no word fell into around the word that comes from it most; false if no word does. */
function placeByShare<H>(run: InlineRun<H>, all: Word<H>[], mark: Mark<H>, path: Mark<H>[]): boolean {
  const isSign = isPunctuation(run.text.slice(mark.start, mark.end));
  const isFree = ({ isPunctuation, stack }: Word<H>) =>
    isPunctuation === isSign && stack.length === path.length && has(stack, path);
  const free = all.filter(isFree);
  const shares = free.map((word) => word.share(mark.start, mark.end));
  const most = Math.max(...shares);
  if (most < 0.1) return false;
  free[shares.indexOf(most)]!.stack.push(mark);
  return true;
}

/** Leaves an element that cannot be copied only around its longest stretch of words. */
function keepLongest<H>(all: Word<H>[], stretches: [number, number][], depth: number): void {
  const length = ([first, last]: [number, number]) => last - first;
  const longest = stretches.reduce((a, b) => (length(b) > length(a) ? b : a));
  for (const [first, last] of stretches) {
    if (first === longest[0]) continue;
    for (const { stack } of all.slice(first, last + 1)) stack.length = depth;
  }
}

/** Punctuation is in the elements that the words on both sides share, or in those of its only neighbor that reach it. */
function assignPunctuation<H>(all: Word<H>[]): void {
  for (const [i, word] of all.entries()) {
    if (!word.isPunctuation || word.stack.length > 0) continue;
    const before = neighborOf(all, i, -1);
    const after = neighborOf(all, i, 1);
    if (before && after) {
      word.stack = before.stack.slice(0, shared(before.stack, after.stack));
      continue;
    }
    const only = (before ?? after)?.stack ?? [];
    word.stack = only.filter((mark) => mark.start <= word.source && word.source < mark.end);
  }
}

/** The next word in the same sentence that is no punctuation, forwards or backwards. */
function neighborOf<H>(all: Word<H>[], i: number, step: 1 | -1): Word<H> | undefined {
  let next = i + step;
  while (all[next]?.isPunctuation) next += step;
  return all[next]?.sentence === all[i]!.sentence ? all[next] : undefined;
}

/** Gives each word the elements around it; returns the elements that got no word. */
function assign<H>(run: InlineRun<H>, all: Word<H>[]): Set<Mark<H>> {
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
      if (!placeByShare(run, all, mark, path)) lost.add(mark);
      continue;
    }
    const stretches = stretchesOf(all, inside, mark, path);
    if (mark.isSingle && stretches.length > 1) keepLongest(all, stretches, path.length);
  }
  assignPunctuation(all);
  return lost;
}

/** The item that beats those before it and is beaten by none after it. */
function firstBy(items: readonly number[], beats: (a: number, b: number) => boolean): number | undefined {
  let best: number | undefined;
  for (const item of items) if (best === undefined || beats(item, best)) best = item;
  return best;
}

/** Position of an element without words: before word `at`, or after the word before it. */
function slotOf<H>(mark: Mark<H>, path: Mark<H>[], all: Word<H>[], placed: Placed[]): { at: number; isAfter: boolean } {
  const sentence = Math.max(0, placed.filter(({ begin }) => begin <= mark.start).length - 1);
  const inPath = [...all.keys()].filter((i) => has(all[i]!.stack, path));
  const near = inPath.filter((i) => all[i]!.sentence === sentence);
  const candidates = near.length > 0 ? near : inPath;
  const sourceOf = (i: number) => all[i]!.source;
  const next = firstBy(candidates.filter((i) => sourceOf(i) >= mark.start), (a, b) => sourceOf(a) < sourceOf(b));
  const previous = firstBy(candidates.filter((i) => sourceOf(i) < mark.start), (a, b) => sourceOf(a) >= sourceOf(b));
  const isAfter = previous !== undefined && (next === undefined || mark.isTied);
  let at = mark.isTied && isAfter ? previous + 1 : firstSlot(candidates, previous, next, isAfter);
  // Never move it into an element that it was outside of.
  const isWithin = () => at > 0 && at < all.length && shared(all[at - 1]!.stack, all[at]!.stack) > path.length;
  while (isWithin()) at += isAfter ? 1 : -1;
  return { at, isAfter };
}

/** The slot beside the words that stood before and after it in the source, of which one or both may be missing. */
function firstSlot(
  candidates: number[],
  previous: number | undefined,
  next: number | undefined,
  isAfter: boolean,
): number {
  if (isAfter) return (next === undefined ? candidates.at(-1)! : previous!) + 1;
  if (previous === undefined) return candidates[0] ?? 0;
  return next!;
}

/** An element without words, and where it goes: before a word, or after the one before that. */
interface Slot<H> {
  mark: Mark<H>;
  path: Mark<H>[];
  isAfter: boolean;
}

/** Elements without words to insert before each word, and at the end. */
function slotsOf<H>(run: InlineRun<H>, all: Word<H>[], lost: Set<Mark<H>>, placed: Placed[]): Slot<H>[][] {
  const slots = Array.from({ length: all.length + 1 }, (): Slot<H>[] => []);
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
  return slots;
}

/** Writes words and elements one after the other, and opens and closes the elements around them. */
class Writer<H> {
  readonly pieces: Piece<H>[] = [];
  #opened = new Set<Mark<H>>();
  /** The elements that are open. */
  #stack: Mark<H>[] = [];

  write(text: string): void {
    const last = this.pieces.at(-1);
    if (last?.kind === 'text') last.text += text;
    else if (text !== '') this.pieces.push({ kind: 'text', text });
  }

  /** Closes what is open but not in `next`. */
  leave(next: readonly Mark<H>[]): void {
    const count = shared(this.#stack, next);
    while (this.#stack.length > count) this.pieces.push({ kind: 'close', handle: this.#stack.pop()!.handle });
  }

  /** Closes and opens elements, so that those of `next` are open. */
  enter(next: readonly Mark<H>[]): void {
    this.leave(next);
    for (const mark of next.slice(this.#stack.length)) this.#open(mark);
    this.#stack = [...next];
  }

  writeMark(mark: Mark<H>): void {
    if (mark.isAtom) {
      this.pieces.push({ kind: 'atom', handle: mark.handle });
      return;
    }
    this.#open(mark);
    for (const inside of mark.inside) this.writeMark(inside);
    this.pieces.push({ kind: 'close', handle: mark.handle });
  }

  #open(mark: Mark<H>): void {
    this.pieces.push({ kind: 'open', handle: mark.handle, isCopy: this.#opened.has(mark) });
    this.#opened.add(mark);
  }
}

/** Writes the elements after the word before; returns the white space that is still to be written. */
function writeAfter<H>(writer: Writer<H>, slots: readonly Slot<H>[], given: string): string {
  let space = given;
  for (const { mark, path } of slots) {
    writer.enter(path);
    if (mark.hasSpace.before && mark.isSeen) space ||= ' ';
    if (mark.hasSpace.before) {
      writer.write(space);
      space = '';
    }
    writer.writeMark(mark);
    if (mark.isSeen && mark.hasSpace.after) space ||= ' ';
  }
  return space;
}

/** Writes the elements before a word; returns the white space that is still to be written. */
function writeBefore<H>(writer: Writer<H>, slots: readonly Slot<H>[], given: string): string {
  let space = given;
  for (const { mark, path } of slots) {
    writer.write(space);
    writer.enter(path);
    writer.writeMark(mark);
    space = mark.isSeen && mark.hasSpace.after ? ' ' : '';
  }
  return space;
}

/** The run, put together from its translated sentences. */
export function put<H>(run: InlineRun<H>, placed: Placed[], tail: string, language?: string): Piece<H>[] {
  const all = cutAtScripts(run, placed.flatMap((one, i) => wordsOf<H>(one, i, language)));
  const lost = assign(run, all);
  const writer = new Writer<H>();
  for (const [i, slots] of slotsOf(run, all, lost, placed).entries()) {
    const word = all[i];
    const stack = word?.stack ?? [];
    const after = slots.filter(({ isAfter }) => isAfter);
    const before = slots.filter(({ isAfter }) => !isAfter);
    const space = writeAfter(writer, after, word?.space ?? tail);
    writer.leave(before[0]?.path ?? stack);
    const rest = writeBefore(writer, before, space);
    writer.leave(stack);
    writer.write(rest);
    writer.enter(stack);
    writer.write(word?.text ?? '');
  }
  return writer.pieces;
}
