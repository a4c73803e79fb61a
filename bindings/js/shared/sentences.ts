// Cuts a text into the sentences that are translated one by one, and joins the translations.

/** A sentence in a text. */
export interface SentencePart {
  /** White space before the sentence: it stands before the translation too. */
  gap: string;
  /** Start of the sentence in the text, in UTF-16 units. */
  begin: number;
  /** The sentence, without white space around it. */
  source: string;
}

// Not the end of a sentence, though Unicode's rules say so: an ordinal or an abbreviation before the rest of its sentence.
const ABBREVIATED = /(?:^|[\s.(])(?:\d{1,3}|\p{L}|Dr|Prof|Mr|Mrs|Ms|St|Nr|Hr|Fr|Abs|Bd|bzw|ca|evtl|etc|ggf|usw|vgl|vs)\.\s*$/iu;

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
  for (const segment of segments(text, language)) {
    const before = joined.at(-1);
    const isQuote = /[“”"»«’']\s*$/.test(before ?? '') && /^\p{Ll}/u.test(segment); // „Ja!“ sagte er
    if (before !== undefined && !/\n\s*$/.test(before) && (isQuote || ABBREVIATED.test(before))) joined[joined.length - 1] += segment;
    else joined.push(segment);
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
