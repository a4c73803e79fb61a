// Texts of several sentences: cut for a model, and put together again from its translations.
import { checkText } from './checks.js';
import { joinSentence, splitSentences, type SentencePart } from './sentences.js';
import type { TextTranslation } from './types.js';
import type { SentenceTranslator } from './webpage-types.js';

/** A text as the sentences that a model takes. */
export interface WholeText {
  parts: SentencePart[];
  /** White space after the last sentence. */
  tail: string;
  /** The language that the model writes. */
  target: string | undefined;
}

/** @throws if the text is not a string */
export function wholeText(text: unknown, { languages = '', config }: SentenceTranslator['info']): WholeText {
  checkText(text);
  const [source, target] = languages.split('-');
  return { ...splitSentences(text, source || undefined, config?.max_length), target };
}

export const sourcesOf = ({ parts }: WholeText): string[] => parts.map(({ source }) => source);

/** The translation of the text, from those of its sentences. */
export function translatedText<Found extends { text: string }>(
  { parts, tail, target }: WholeText, translations: readonly Found[],
): TextTranslation<Found> {
  const sentences = parts.map(({ begin, source }, i) => ({ begin, source, translation: translations[i]! }));
  return { text: parts.map((part, i) => joinSentence(part, target) + translations[i]!.text).join('') + tail, sentences };
}
