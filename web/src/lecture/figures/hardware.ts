// Section 5.2 and table 2: hours, steps and operations of the paper's training.
export const GPUS = 8;
/** Operations per second of one P100 that the paper reckons with (its footnote 5). */
const SUSTAINED = 9.5e12;
/** Tokens of one batch on each side, about. */
export const BATCH_TOKENS = 25_000;

/** Figures of the paper: a step takes about 0.4 seconds in base and 1 second in big. BLEU on newstest2014, English to German. */
export const MODELS = {
  base: { hours: 12, steps: 100_000, bleu: 27.3 },
  big: { hours: 3.5 * 24, steps: 300_000, bleu: 28.4 },
} as const;

export const hours = (model: keyof typeof MODELS, steps: number) => (MODELS[model].hours * steps) / MODELS[model].steps;
/** Floating-point operations of that many hours on all cards. */
export const operations = (hours: number) => hours * 3600 * GPUS * SUSTAINED;
export const tokensSeen = (steps: number) => steps * BATCH_TOKENS;

/** Single models of table 2, English to German: operations of their training and BLEU on newstest2014. */
export const RIVALS = [
  { name: 'GNMT + RL', operations: 2.3e19, bleu: 24.6 },
  { name: 'ConvS2S', operations: 9.6e18, bleu: 25.16 },
  { name: 'MoE', operations: 2.0e19, bleu: 26.03 },
] as const;
