// Translated sentences, kept.
import { checked, checkSignal, isObject, whole } from '../shared/checks.js';
import { WasmformerTypeError } from '../shared/errors.js';
import type { SentenceTranslation, SentenceTranslator } from '../shared/webpage-types.js';
import { composed, type Composed } from './composed.js';

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
  if (limit === undefined) throw new WasmformerTypeError('cached', 'bytes is missing');
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
    const callback = ['onPartial', 'onToken'].find((name) => search[name] !== undefined);
    if (callback) throw new WasmformerTypeError('cached', `${callback} has nothing to report for cached sentences`);
    checkSignal({ signal });
    signal?.throwIfAborted();
    const found = new Map<string, Found>();
    const keyOf = (text: string) => JSON.stringify([text, search], withPatterns);
    for (const text of texts) {
      const known = kept.get(keyOf(text))?.found;
      if (known) found.set(text, known);
    }
    const missing = [...new Set(texts)].filter((text) => !found.has(text));
    const options = { ...search, ...(signal && { signal }) };
    const added = missing.length > 0 ? await translator.translate(missing, options) : [];
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

/** JSON has no regular expressions, which the option `keep` may have. */
const withPatterns = (_: string, value: unknown) => (value instanceof RegExp ? `${value}` : value);

/** Roughly what a value takes, in bytes. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (!isObject(value)) return 8;
  return Object.values(value).reduce((sum: number, item) => sum + sizeOf(item) + 8, 32);
}
