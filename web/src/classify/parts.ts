// A text cut into labeled parts and the text between them.
import type { Annotation } from 'wasmformer';

/** Tags of a lower probability are marked. */
export const UNSURE_TAG = 0.6;

export interface Part {
  start: number;
  end: number;
  label: string;
  /** Degrees of its color, or none. */
  hue?: number;
  /** The model gave the label a low probability. */
  isUnsure?: boolean;
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

/** Colors that differ as much as they can, in the order of the names. */
export function hues(names: readonly string[]): Map<string, number> {
  const GOLDEN = 137.508;
  return new Map([...new Set(names)].sort().map((name, i) => [name, (25 + i * GOLDEN) % 360]));
}

/** Finds the ranges of the words of a text, in languages without spaces too. */
export function wordsOf(text: string): { start: number; end: number }[] {
  if (!('Segmenter' in Intl)) {
    return Array.from(text.matchAll(/\S+/g), ({ index, 0: word }) => ({ start: index, end: index + word.length }));
  }
  const segments = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)];
  return segments
    .filter(({ isWordLike }) => isWordLike)
    .map(({ index, segment }) => ({ start: index, end: index + segment.length }));
}

/** Spans with their types, or else each word with its tag; `tags` are all that the model has. */
export function tagged({ tokens = [], spans = [] }: Partial<Annotation>, tags: readonly string[]): Part[] {
  const types = tags.map((tag) => tag.replace(/^[BI]-/, ''));
  const colors = hues(types.filter((type) => type !== 'O'));
  const words = tokens.filter(({ tag }) => tag !== 'O').map(({ tag, ...place }) => ({ ...place, type: tag }));
  const all = spans.length > 0 ? spans : words;
  const isUnsure = (part: { start: number; end: number }) =>
    tokens.some(({ start, end, probability }) => start < part.end && part.start < end && probability < UNSURE_TAG);
  return all.map(({ start, end, type }) => ({
    start,
    end,
    label: type,
    hue: colors.get(type),
    isUnsure: isUnsure({ start, end }),
  }));
}
