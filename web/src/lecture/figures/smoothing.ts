// Section 5.4: label smoothing.

/** ε is shared by all words, the right one among them, which has 1 - ε besides: as the engine does. */
export function target(words: number, right: number, epsilon: number): number[] {
  const share = epsilon / words;
  return Array.from({ length: words }, (_, word) => (word === right ? 1 - epsilon + share : share));
}

/** Cross-entropy of what the model says, in nats, if it gives `sure` to the right word and shares the rest. */
export function loss(words: number, epsilon: number, sure: number): number {
  const [right, other] = target(words, 0, epsilon);
  const ofOthers = other > 0 ? (words - 1) * other * Math.log((1 - sure) / (words - 1)) : 0;
  return -right * Math.log(sure) - ofOthers;
}

/** The lowest loss that there is: the entropy of the target, where the model says what the target says. */
export const leastLoss = (words: number, epsilon: number) =>
  (epsilon > 0 ? loss(words, epsilon, target(words, 0, epsilon)[0]) : 0);

/** How far the score of the right word must stand above the others for a probability. */
export const lead = (words: number, sure: number) => Math.log((sure * (words - 1)) / (1 - sure));
