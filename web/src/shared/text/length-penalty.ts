// The length penalty of beam search (section 6.1 of the paper): the score of a translation is divided by it.

/** The paper's α, and the package's default. */
export const PAPER_ALPHA = 0.6;

/** Divisor of the score of n tokens: ((5 + n) / 6)^α (Wu et al. 2016, equation 14). */
export const lengthPenalty = (length: number, alpha: number) => ((5 + length) / 6) ** alpha;

/** The α that a model's own metadata names, or the paper's. */
export const usualAlpha = (metadata: Readonly<Record<string, string>> | undefined) =>
  Number(metadata?.length_penalty ?? PAPER_ALPHA);
