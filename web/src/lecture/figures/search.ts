// Section 6.1: beam search over a language small enough to know every sentence of it.
import { lengthPenalty } from '../../shared/text/length-penalty';

/** Probability of each next word after a word; END ends a sentence. */
export type Language = Readonly<Record<string, Readonly<Record<string, number>>>>;
export const START = '^';
export const END = '.';

export interface Found {
  words: readonly string[]; // without START, with END
  logProbability: number;
  score: number;
}

/** A translation model that is sure of no long sentence: each word costs probability, and stopping at once costs little. */
export const LANGUAGE: Language = {
  [START]: { the: 0.34, a: 0.2, my: 0.16, one: 0.12, this: 0.1, [END]: 0.08 },
  the: { old: 0.5, dog: 0.3, cat: 0.2 },
  a: { dog: 0.6, cat: 0.4 },
  my: { old: 0.5, dog: 0.5 },
  one: { old: 0.4, cat: 0.6 },
  this: { old: 0.3, dog: 0.7 },
  old: { dog: 0.7, cat: 0.3 },
  dog: { bites: 0.6, sleeps: 0.4 },
  cat: { sleeps: 0.6, bites: 0.4 },
  bites: { men: 0.6, fast: 0.4 },
  men: { often: 0.6, [END]: 0.4 },
  often: { [END]: 1 },
  fast: { [END]: 1 },
  sleeps: { well: 0.5, [END]: 0.5 },
  well: { [END]: 1 },
};

function extended(beam: readonly Found[], language: Language): Found[] {
  return beam.flatMap(({ words, logProbability }) =>
    Object.entries(language[words.at(-1) ?? START]).map(([word, probability]) => {
      const sum = logProbability + Math.log(probability);
      return { words: [...words, word], logProbability: sum, score: sum };
    }),
  );
}

/** The finished sentences of a beam search, best score first; the search ends after `most` words. */
export function search(language: Language, width: number, alpha: number, most = 12): Found[] {
  let beam: Found[] = [{ words: [], logProbability: 0, score: 0 }];
  const finished: Found[] = [];
  for (let step = 0; step < most && beam.length > 0; step++) {
    const best = extended(beam, language).sort((a, b) => b.logProbability - a.logProbability).slice(0, width);
    for (const one of best.filter(({ words }) => words.at(-1) === END)) {
      finished.push({ ...one, score: one.logProbability / lengthPenalty(one.words.length, alpha) });
    }
    beam = best.filter(({ words }) => words.at(-1) !== END);
  }
  return finished.sort((a, b) => b.score - a.score);
}
