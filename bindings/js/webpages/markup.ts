// Translates runs of text with inline markup: they are taken apart before translation, and put back together afterwards.
import { checkSignal } from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import { joinSentence, splitSentences } from '../shared/sentences.js';
import type { SentenceTranslation, SentenceTranslator } from '../shared/webpage-types.js';
import { isTranslatable, type InlineRun, type Piece } from './inline-run.js';
import { put } from './placing.js';

const batchSize = 32;

/** Sentences with more tokens than the model takes are left untranslated. */
async function translateBatch<Found extends SentenceTranslation>(
  batch: string[], translator: SentenceTranslator<Found>, options: object,
): Promise<(Found | undefined)[]> {
  try {
    return await translator.translate(batch, { ...options, alignment: true });
  } catch (error) {
    if (!(error instanceof WasmformerError && error.code === 'too-long')) throw error;
    if (batch.length === 1) return [undefined];
    const half = batch.length >> 1;
    const first = await translateBatch(batch.slice(0, half), translator, options);
    return [...first, ...await translateBatch(batch.slice(half), translator, options)];
  }
}

/**
 * Translates runs, each distinct sentence once, and passes on each run's pieces as soon as its last sentence is ready.
 * Options besides `signal` go to translate().
 */
export async function translateRuns<H, Found extends SentenceTranslation>(
  runs: readonly InlineRun<H>[], translator: SentenceTranslator<Found>, options: { signal?: AbortSignal },
  take: (pieces: Piece<H>[], run: number) => void,
): Promise<Map<string, Found | undefined>> {
  checkSignal(options);
  const [source, target] = (translator.info.languages || '-').split('-').map((code) => code || undefined);
  const cut = runs.map(({ text }) => splitSentences(text, source, translator.info.config?.max_length));
  const found = new Map<string, Found | undefined>();
  let next = 0;
  const finish = () => {
    for (; next < runs.length; next++) {
      const { parts, tail } = cut[next]!;
      if (parts.some((part) => isTranslatable(part.source) && !found.has(part.source))) return;
      const placed = parts.map((part) => {
        const translation = found.get(part.source);
        const isSame = translation === undefined;
        const joint = isSame ? part.gap : joinSentence(part, target);
        return { ...part, joint, found: translation ?? { text: part.source }, isSame };
      });
      take(put(runs[next]!, placed, tail, target), next);
    }
  };
  const wanted = [...new Set(cut.flatMap(({ parts }) => parts.map((part) => part.source)).filter(isTranslatable))];
  for (let i = 0; i < wanted.length; i += batchSize) {
    options.signal?.throwIfAborted();
    const batch = wanted.slice(i, i + batchSize);
    const translations = await translateBatch(batch, translator, options);
    batch.forEach((sentence, k) => found.set(sentence, translations[k]!));
    finish();
  }
  options.signal?.throwIfAborted();
  finish();
  return found;
}
