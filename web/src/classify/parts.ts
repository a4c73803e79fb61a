// A text cut into labelled parts and the text between them.

export interface Part {
  start: number;
  end: number;
  label: string;
  /** Degrees of its colour, or none. */
  hue?: number;
  /** How strongly it is shaded, from 0 to 1. */
  weight?: number;
}

/** The parts in order, and the text between them. */
export function cut(text: string, parts: readonly Part[]): { text: string; part: Part | null }[] {
  let done = 0;
  const all = parts.flatMap((part) => {
    const before = { text: text.slice(done, part.start), part: null };
    done = part.end;
    return [before, { text: text.slice(part.start, part.end), part }];
  });
  return [...all, { text: text.slice(done), part: null }].filter(({ text }) => text !== '');
}

/** Colours that differ as much as they can, in the order of the names. */
export function hues(names: readonly string[]): Map<string, number> {
  const GOLDEN = 137.508;
  return new Map([...new Set(names)].sort().map((name, i) => [name, (25 + i * GOLDEN) % 360]));
}

/** Where the words of a text are, in languages without spaces too. */
export function wordsOf(text: string): { start: number; end: number }[] {
  if (!('Segmenter' in Intl)) return Array.from(text.matchAll(/\S+/g), ({ index, 0: word }) => ({ start: index, end: index + word.length }));
  const found = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)];
  return found.filter(({ isWordLike }) => isWordLike).map(({ index, segment }) => ({ start: index, end: index + segment.length }));
}
