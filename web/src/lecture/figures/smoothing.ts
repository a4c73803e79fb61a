// Section 5.4: label smoothing.

/** 1 - ε on the right word and ε shared by the others. */
export function target(words: number, right: number, epsilon: number): number[] {
  const share = epsilon / (words - 1);
  return Array.from({ length: words }, (_, word) => (word === right ? 1 - epsilon : share));
}

/** Cross-entropy of what the model says, in nats, if it gives `sure` to the right word and shares the rest. */
export function loss(words: number, epsilon: number, sure: number): number {
  const said = target(words, 0, 1 - sure);
  const wanted = target(words, 0, epsilon);
  return wanted.reduce((sum, share, word) => (share > 0 ? sum - share * Math.log(said[word]) : sum), 0);
}

/** How far the score of the right word must stand above the others for a probability. */
export const lead = (words: number, sure: number) => Math.log((sure * (words - 1)) / (1 - sure));
