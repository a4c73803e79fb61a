// Stand-ins for models, whose translations and alignments are known.
import { translateHtml } from '../../dist/webpages/html.js';

const partsOf = (text) => Array.from(text.matchAll(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu), ({ 0: part, index }) => ({ part, start: index, end: index + part.length }));

/** [text, alignment] from the parts of the target, each with the index of the part of the source that it comes from. */
export function aligned(source, target) {
  const from = partsOf(source);
  let text = '';
  const to = target.map(({ part, isTight }) => {
    if (text !== '' && !isTight) text += ' ';
    text += part;
    return { start: text.length - part.length, end: text.length };
  });
  const data = new Float32Array(to.length * from.length);
  target.forEach((one, i) => (data[i * from.length + one.from] = 1));
  return { text, alignment: { source: from, target: to, data } };
}

const answer = (translateOne) => ({
  info: { languages: 'en-de' },
  translate: async (sentences) => sentences.map(translateOne),
});

/** Gives the source back. */
export const same = answer((source) => {
  const parts = partsOf(source);
  const data = Float32Array.from({ length: parts.length ** 2 }, (_, i) => Number(i % (parts.length + 1) === 0));
  return { text: source, alignment: { source: parts, target: parts, data } };
});

/** Words in capitals, the last first; signs stay at their places. */
export function backwards(source) {
  const parts = partsOf(source);
  const words = parts.map((_, i) => i).filter((i) => /[\p{L}\p{N}]/u.test(parts[i].part)).reverse();
  return aligned(source, parts.map(({ part, start }, i) => {
    const from = /[\p{L}\p{N}]/u.test(part) ? words.shift() : i;
    return { part: parts[from].part.toUpperCase(), from, isTight: start > 0 && !/\s/.test(source[start - 1]) };
  }));
}
export const reversing = answer(backwards);

/** Answers with given translations: { source: 'target|0 target|2 …' } with indices of words and signs of the source. */
export const dictionary = (entries) => answer((source) => {
  if (!(source in entries)) throw new Error(`not expected: '${source}'`);
  return aligned(source, entries[source].split(' ').map((item) => {
    const [part, from] = item.replace(/^_/, '').split('|');
    return { part, from: Number(from), isTight: item.startsWith('_') };
  }));
});

export const html = async (markup, translator = same, options = {}) => (await translateHtml(markup, translator, options)).text;
