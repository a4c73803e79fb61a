// Trust in a label or a tag: a classifier gives one to every text, also to those that it knows nothing about.
import type { Annotation } from 'wasmformer';
import { segments, surface } from '../shared/attention/attention';
import { wordsOf } from './parts';

/** Labels of less come from texts that fit none of them; those of texts like the training's have 0.9. */
const UNSURE_LABEL = 0.8;
/** Letters in a piece: a word that is cut into shorter ones was not in the training texts. */
const SHORTEST = 2;
const HAN = /\p{Script=Han}/u;

/** Words that the model has not learned: a part is unknown, or they are spelled almost letter by letter. */
export function unknownWords(text: string, pieces: readonly string[]): string[] {
  let at = 0;
  const placed = segments(text, pieces).map((segment) => ({ ...segment, begin: at, end: (at += segment.text.length) }));
  const unknown = wordsOf(text).filter(({ start, end }) => {
    const tokens = placed.flatMap((one) => (one.token !== null && one.begin < end && start < one.end ? one.token : []));
    const names = [...new Set(tokens)].map((token) => pieces[token]!);
    if (names.includes('<unk>')) return true;
    const letters = names.reduce((sum, name) => sum + [...surface(name)].length, 0);
    return names.length > 1 && !HAN.test(text.slice(start, end)) && letters < SHORTEST * names.length;
  });
  return [...new Set(unknown.map(({ start, end }) => text.slice(start, end)))];
}

/**
 * Why its label should not be trusted: it knows few of the words, or no label fits; null where it may be right. With
 * `isEach`, each label has a probability of its own, and a text may well have none.
 */
export function doubtOf(text: string, { labels, sourceTokens }: Annotation, isEach: boolean): 'words' | 'labels' | null {
  if (!labels?.length) return null;
  const unknown = unknownWords(
    text,
    sourceTokens.map(({ piece }) => piece),
  );
  if (unknown.length * 2 > wordsOf(text).length) return 'words';
  return !isEach && labels[0]!.probability < UNSURE_LABEL ? 'labels' : null;
}
