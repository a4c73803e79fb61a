// How sure a model was of what it wrote, from the probabilities of its tokens.

/** A token of less is marked. */
export const UNSURE = 0.3;
/** A translation whose tokens have less, in the geometric mean, is likely to be wrong; right ones have 0.8 and more. */
const WEAK = 0.72;

type Told = readonly { logProbability: number }[];

export const isUnsure = ({ logProbability }: Told[number]) => logProbability < Math.log(UNSURE);

export const isWeak = (tokens: Told) =>
  tokens.reduce((sum, { logProbability }) => sum + logProbability, 0) / tokens.length < Math.log(WEAK);
