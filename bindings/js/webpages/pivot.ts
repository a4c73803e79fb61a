// Two models, one after the other.
import { refuseOfSentence } from '../shared/checks.js';
import { WasmformerError, WasmformerTypeError } from '../shared/errors.js';
import type { Alignment, SentenceTranslation, SentenceTranslator } from '../shared/webpage-types.js';
import { composed, type Composed } from './composed.js';

export interface PivotTranslation extends SentenceTranslation {
  /** The intermediate sentence. Its quality is that of the first model, `quality` that of the second. */
  via: SentenceTranslation;
}

/**
 * Translates with one model after the other, such as German to Chinese by way of English. Alignments lead from the
 * first model's source to the second one's target. Options for a single sentence, such as prefix, are refused.
 * @throws when the first does not translate into the language that the second reads
 * @example
 * const [toEnglish, toChinese] = await Promise.all(['de-en', 'en-zh'].map((name) => Translator.load(`models/${name}.safetensors`)));
 * const { text, via } = await pivot(toEnglish, toChinese).translate('Wo ist mein Buch?');
 */
export function pivot(first: SentenceTranslator, second: SentenceTranslator): Composed<PivotTranslation> {
  const [from, into] = (first.info.languages || '-').split('-');
  const [reads, to] = (second.info.languages || '-').split('-');
  if (into && reads && into !== reads) {
    throw new WasmformerError('pivot', `the first model translates into '${into}', but the second reads '${reads}'`);
  }
  return composed(from && to ? `${from}-${to}` : '', [first, second], async (texts, options) => {
    refuseOfSentence('pivot', 'two models', options);
    if ('glossary' in options) throw new WasmformerTypeError('pivot', 'a glossary belongs to one model, and here are two');
    const between = await first.translate(texts, options);
    const found = await second.translate(between.map(({ text }) => text), options);
    return found.map(({ text, quality, alignment }, i) => {
      const via = between[i]!;
      const both = via.alignment && alignment && compose(via.alignment, alignment);
      return { text, via, ...(quality && { quality }), ...(both && { alignment: both }) };
    });
  });
}

/** P(s|t) = Σ P(s|q) P(q'|t): each token q' of the second model's source spreads over the q that it overlaps. */
function compose(first: Alignment, second: Alignment): Alignment {
  const [sources, between] = [first.source.length, second.source.length];
  const shares = second.source.map(({ start, end }, k) => {
    const overlaps: number[] = first.target.map((range) =>
      Math.max(0, Math.min(end, range.end) - Math.max(start, range.start)));
    if (!overlaps.some((overlap) => overlap > 0)) { // such as the end token
      const next = Math.max(0, first.target.findIndex((range) => range.end >= start));
      overlaps[k === between - 1 ? overlaps.length - 1 : next] = 1;
    }
    const total = overlaps.reduce((sum, overlap) => sum + overlap, 0);
    const row = new Float32Array(sources);
    overlaps.forEach((overlap, q) => {
      for (let s = 0; overlap > 0 && s < sources; s++) row[s]! += (overlap / total) * first.data[q * sources + s]!;
    });
    return row;
  });
  const data = new Float32Array(second.target.length * sources);
  second.target.forEach((_, t) => shares.forEach((row, k) => {
    const weight = second.data[t * between + k]!;
    row.forEach((value, s) => (data[t * sources + s]! += weight * value));
  }));
  return { source: first.source, target: second.target, data };
}
