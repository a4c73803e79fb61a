// The text of `--real`, its sentences' lengths and a vocabulary of its words. Runs in browsers and in Node.
import { longest, mark } from './endings.mjs';

const words = /( ?)([A-Za-z]+(?:'[a-z]+)?|[0-9]+|-+|\S)/g;
const piecesOf = (sentence) => Array.from(` ${sentence}`.matchAll(words), ([, space, word]) => `${space && '\u2581'}${word}`);

/** Blocks of { text, words, pieces, sourceTokens, length }: each text ends with its mark; the end token is counted. */
export function readChapter(text, blocks) {
  return text.trim().split('\n\n').slice(0, blocks).map((block) => block.split('\n').map((sentence) => {
    const sourceTokens = piecesOf(sentence).length + 2; // the mark and the end token
    const length = Math.round(1.1 * sourceTokens);
    const pieces = [...piecesOf(sentence), mark(length)];
    return { text: sentence + mark(length), words: sentence.split(' ').length, pieces, sourceTokens, length };
  }));
}

/** As many pieces as `vocabulary` says: </s>, <unk>, all marks, the text's words, then made-up words. */
export function piecesFor(text, { vocabulary }) {
  const marks = Array.from({ length: longest }, (_, i) => mark(i + 1));
  const known = ['</s>', '<unk>', ...marks, ...new Set(text.split('\n').flatMap(piecesOf))];
  const made = Array.from({ length: vocabulary - known.length }, (_, i) => `\u2581zq${i.toString(26)}`);
  return [...known, ...made];
}
