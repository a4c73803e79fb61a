// Whether a text is in another language than the model's, by the project's detector. This script and the detector's file
// are fetched only for a text of the visitor's own.
import { Detector, type Detection } from 'wasmformer/detect';
import modelURL from 'wasmformer-detect/detect.safetensors?url';

const UNKNOWN = 'und';
/** The likeliest language needs this confidence: words that are half typed look like those of other languages. */
const SURE = 0.9;
/** Texts of this many words, and those without Latin letters, tell more: one language may stand for similar ones. */
const WORDS = 4;
const LIKELIER_THAN_ALL_OTHERS = 0.5;
/** Such a text is in the expected language, or in none that is known, with this probability at most. */
const HARDLY = 0.05;

/**
 * The language that a text is in instead of the expected one, as models name it ('zh' for traditional Chinese too); null
 * if it is in the expected one, or that is not clear.
 */
export function otherLanguage(text: string, expected: string, found: readonly Detection[]): string | null {
  const shares = new Map<string, number>();
  const shareOf = (language: string) => shares.get(language) ?? 0;
  for (const { language, confidence } of found) {
    const [base] = language.split('-');
    shares.set(base, shareOf(base) + confidence);
  }
  const [[likeliest, most]] = [...shares].sort(([, a], [, b]) => b - a);
  if (likeliest === expected || likeliest === UNKNOWN) return null;
  const tellsMore = text.trim().split(/\s+/).length >= WORDS || !/\p{Script=Latin}/u.test(text);
  const isNotExpected = shareOf(expected) + shareOf(UNKNOWN) <= HARDLY;
  const least = tellsMore && isNotExpected ? LIKELIER_THAN_ALL_OTHERS : SURE;
  return most >= least ? likeliest : null;
}

/** otherLanguage() for a text alone. */
export type Detect = (text: string, expected: string) => string | null;

export async function loadDetect(): Promise<Detect> {
  const file = await fetch(modelURL);
  const detector = new Detector(new Uint8Array(await file.arrayBuffer()));
  return (text, expected) => otherLanguage(text, expected, detector.detect(text));
}
