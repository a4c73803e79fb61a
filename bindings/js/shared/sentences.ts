// Cuts a text into the sentences that are translated one by one, and joins the translations.

import { abbreviations, firstWords } from '../generated/sentence-words.js';

/** A sentence in a text. */
export interface SentencePart {
  /** White space before the sentence: it stands before the translation too. */
  gap: string;
  /** Start of the sentence in the text, in UTF-16 units. */
  begin: number;
  /** The sentence, without white space around it. */
  source: string;
}

const known = (words: string) => new Set(words.trim().split(/\s+/));
const abbreviated = known(`${abbreviations} bd bzw gen mlle mme usw`); // the latter are not in Unicode's list
const opening = known(firstWords);
/** Languages that write ordinal numbers without a dot; all others may mean "the third" by "3." */
const withoutDots = /^(en|es|fr|it|nl|pt|sv|zh)\b/;

/** Returns whether the dot after a word belongs to an abbreviation, initial or ordinal number. */
function isAbbreviated(word: string, isAlone: boolean, language = ''): boolean {
  if (/^(\d{1,2}[.–-]+)*\d{1,3}$/.test(word)) return isAlone || !withoutDots.test(language);
  return /^(\p{L}[.-]+)*\p{L}$/u.test(word) || abbreviated.has(word.replace(/^\p{L}+(?=str$)/u, ''));
}

/** Whether both texts share an address, path or the like, where "?" and "!" do not end a sentence: example.org/?q=1 */
function isWithinAddress(before: string, after: string): boolean {
  const [end = ''] = /\S+$/.exec(before) ?? [];
  const [begin = ''] = /^[!-~]+/.exec(after) ?? []; // what is written in ASCII
  return end !== '' && begin !== '' && /[/@=&#_\\]|\?\./.test(end + begin);
}

/** Whether both texts share a piece of code in back quotes. */
function isWithinCode(before: string, after: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return line.split('`').length % 2 === 0 && /^[^\n]*`/.test(after);
}

/** Returns whether a sentence continues after `before`, though Unicode's rules say that it ends. */
function goesOn(before: string, after: string, language: string | undefined): boolean {
  const end = before.slice(-40);
  if (/\n\s*$/.test(end)) return false;
  if (isWithinAddress(end, after) || isWithinCode(before, after)) return true;
  if (/[“”"»«’']\s*$/.test(end) && /^\p{Ll}/u.test(after)) return true; // „Ja!“ sagte er
  const [last = '', word = ''] = /(\S+)\.\s*$/.exec(end) ?? [];
  const isAlone = last.length === before.length; // of a list: "1. …", "a. …"
  if (!isAbbreviated(word.toLowerCase().replace(/^[^\p{L}\p{N}]+/u, ''), isAlone, language)) return false;
  // Such words are written small inside of a sentence.
  const [first = ''] = /\p{L}+/u.exec(after) ?? [];
  return isAlone || !/^\p{Lu}\p{Ll}/u.test(first) || !opening.has(first.toLowerCase());
}

function segments(text: string, language: string | undefined): string[] {
  if (!('Segmenter' in Intl)) return text.split(/(?<=[.!?…。！？]\s+|\n)/);
  let segmenter: Intl.Segmenter;
  try {
    segmenter = new Intl.Segmenter(language, { granularity: 'sentence' });
  } catch {
    segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' }); // the model's languages are not valid codes
  }
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

const longestSentence = 500; // characters

/** Pieces of at most `longest` characters, cut where words end if possible. */
function cut(text: string, longest: number): string[] {
  const pieces = [];
  while (text.length > longest) {
    const head = text.slice(0, longest);
    const inside = longest - Number(/[\ud800-\udbff]$/.test(head)) || 2; // of a surrogate pair, both or none
    const end = head.search(/(?:[,;:–]\s|[，；：、])[^,;:–，；：、]*$/) + 1 || head.search(/\s\S*$/) + 1 || inside;
    pieces.push(text.slice(0, end));
    text = text.slice(end);
  }
  return [...pieces, text];
}

/**
 * The sentences of `text`, and the white space after the last one. A line break ends a sentence, and so do 500
 * characters, or as many as the model's max_length has room for.
 */
export function splitSentences(
  text: string, language?: string, maxLength = Infinity,
): { parts: SentencePart[]; tail: string } {
  const longest = Math.min(longestSentence, maxLength - 2); // a space before the first word, and the end token
  const joined: string[] = [];
  let quotes = 0; // « that are still open
  for (const segment of segments(text, language)) {
    // Behind a space, as in French, » begins a sentence by Unicode's rules.
    const closing = (quotes > 0 && /^»\s*/.exec(segment)?.[0]) || '';
    const rest = segment.slice(closing.length);
    const before = (joined.pop() ?? '') + closing;
    if (before === '' || rest === '' || goesOn(before, rest, language)) joined.push(before + rest);
    else joined.push(before, rest);
    for (const sign of segment.match(/[«»]/g) ?? []) quotes += sign === '«' ? 1 : -1;
  }
  const parts: SentencePart[] = [];
  let gap = '';
  let begin = 0;
  for (const piece of joined.flatMap((sentence) => cut(sentence, longest))) {
    const source = piece.trim();
    const space = piece.length - piece.trimStart().length;
    if (source === '') gap += piece;
    else {
      parts.push({ gap: gap + piece.slice(0, space), begin: begin + space, source });
      gap = piece.slice(space + source.length);
    }
    begin += piece.length;
  }
  return { parts, tail: gap };
}

/** Returns the white space before the translation of a sentence: the text's own, adapted to the target language. */
export function joinSentence({ gap, begin }: SentencePart, target: string | undefined): string {
  if (begin === gap.length || gap.includes('\n')) return gap;
  return /^(zh|ja|th|lo|km|my)\b/.test(target ?? '') ? '' : gap || ' ';
}
