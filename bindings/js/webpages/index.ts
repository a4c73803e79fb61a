// `wasmformer/pages`: what is needed besides a Translator to translate whole texts and pages.
import { checked, isObject, refuseOfSentence, takeHtml, whole } from '../shared/checks.js';
import type {
  Alignment, AlignmentOptions, HtmlTranslation, SentenceCall, SentenceTranslation, SentenceTranslator,
} from '../shared/webpage-types.js';

export { joint, split, type Part } from '../shared/sentences.js';
export { translateDocument } from './document.js';
export type * from '../shared/webpage-types.js';

/** Any option of translate() about the search; `signal` aborts. */
export type SentenceOptions = AlignmentOptions & { signal?: AbortSignal; [option: string]: unknown };

/** A SentenceTranslator made of others, which still belong to the caller. */
export interface Composed<Found extends SentenceTranslation> {
  readonly info: SentenceTranslator['info'] & { readonly languages: string };
  translate: SentenceCall<SentenceOptions, Found>;
}

function composed<Found extends SentenceTranslation>(
  languages: string, parts: SentenceTranslator[],
  translateAll: (texts: readonly string[], options: SentenceOptions) => Promise<Found[]>,
): Composed<Found> {
  const max_length = Math.min(...parts.map(({ info }) => info.config?.max_length ?? Infinity));
  const made = {
    info: { languages, ...(max_length < Infinity && { config: { max_length } }) },
    async translate(text: string | readonly string[], options: object = {}): Promise<Found | Found[] | HtmlTranslation> {
      const { html, rest } = takeHtml(options);
      if (html) return (await import('./html.js')).translateHtml(text, made as SentenceTranslator, rest);
      const found = await translateAll([text].flat(), rest as SentenceOptions);
      return typeof text === 'string' ? found[0]! : found;
    },
  };
  return made as Composed<Found>;
}

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
    throw new Error(`[pivot] the first model translates into '${into}', but the second reads '${reads}'`);
  }
  return composed(from && to ? `${from}-${to}` : '', [first, second], async (texts, options) => {
    refuseOfSentence('pivot', 'two models', options);
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
    const overlaps: number[] = first.target.map((range) => Math.max(0, Math.min(end, range.end) - Math.max(start, range.start)));
    if (!overlaps.some((overlap) => overlap > 0)) { // such as the end token
      const at = k === between - 1 ? overlaps.length - 1 : Math.max(0, first.target.findIndex((range) => range.end >= start));
      overlaps[at] = 1;
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

export interface Cached<Found extends SentenceTranslation> extends Composed<Found> {
  /** Roughly how many bytes are kept now. */
  readonly bytes: number;
  clear(): void;
}

/**
 * Keeps translated sentences, by sentence and options, and discards the least recently used when they would take
 * more than `bytes`. Results are shared between calls, so do not change them.
 * @example
 * const translator = cached(await Translator.load('models/de-en.safetensors'), { bytes: 1e7 });
 * await translator.translate(['Wo ist mein Buch?', 'Wo ist mein Buch?']); // the model translates it once
 */
export function cached<Found extends SentenceTranslation>(
  translator: SentenceTranslator<Found>, options: { bytes: number },
): Cached<Found> {
  const { bytes: limit } = checked<{ bytes: number }>('cached', { bytes: whole(1) }, options);
  if (limit === undefined) throw new TypeError('[cached] bytes is missing');
  const kept = new Map<string, { found: Found; bytes: number }>();
  let bytes = 0;
  const forget = (key: string) => {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  const keep = (key: string, found: Found) => {
    forget(key);
    const size = sizeOf(key) + sizeOf(found);
    if (size > limit) return;
    kept.set(key, { found, bytes: size });
    bytes += size;
    for (const oldest of kept.keys()) {
      if (bytes <= limit) return;
      forget(oldest);
    }
  };
  const made = composed(translator.info.languages ?? '', [translator], async (texts, { signal, ...search }) => {
    if (search.onToken !== undefined) throw new TypeError('[cached] onToken has nothing to report for cached sentences');
    signal?.throwIfAborted();
    const found = new Map<string, Found>();
    const keyOf = (text: string) => JSON.stringify([text, search]);
    for (const text of texts) {
      const known = kept.get(keyOf(text))?.found;
      if (known) found.set(text, known);
    }
    const missing = [...new Set(texts)].filter((text) => !found.has(text));
    const added = missing.length > 0 ? await translator.translate(missing, { ...search, ...(signal && { signal }) }) : [];
    missing.forEach((text, i) => found.set(text, added[i]!));
    return texts.map((text) => {
      keep(keyOf(text), found.get(text)!);
      return found.get(text)!;
    });
  });
  const clear = () => {
    kept.clear();
    bytes = 0;
  };
  return Object.defineProperty({ ...made, clear }, 'bytes', { get: () => bytes, enumerable: true }) as Cached<Found>;
}

/** Roughly what a value takes, in bytes. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (!isObject(value)) return 8;
  return Object.values(value).reduce((sum: number, item) => sum + sizeOf(item) + 8, 32);
}
