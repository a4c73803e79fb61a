// Table 3 of the paper as data: for each row what differs from the base model, the paper's numbers, and what differs
// here, in models of an eighth of the width and half of the layers.
import { describedAs, type Settings } from './ablation';

/** On newstest2013; parameters are in millions, and missing where the paper leaves them out: those of the base model. */
export interface Printed {
  perplexity: number;
  bleu: number;
  parameters?: number;
}

export interface Row {
  id: string;
  group: 'base' | 'A' | 'B' | 'C' | 'D' | 'E' | 'big';
  /** What the paper changes, in its symbols; '' where words say it. */
  theirs: string;
  /** What is changed here. */
  ours: string;
  printed: Printed;
  set: Settings;
}

/** Pairs to learn from German to English; the rest of what comes with the page validates. */
export const PAIRS = 29_500;
export const STEPS = 600;

/** The base model here: N = 3, d_model = 64, d_ff = 256, h = 8, dropout and label smoothing 0.1 as in the paper. */
export const BASE: Settings = {
  encoder_layers: 3,
  decoder_layers: 3,
  d_model: 64,
  ffn_dim: 256,
  num_heads: 8,
  dropout: 0.1,
  label_smoothing: 0.1,
  norm: 'pre',
  schedule: 'cosine',
  learning_rate: 4e-3,
  warmup_steps: 60,
  decay_steps: STEPS,
  clip_norm: 1,
  batch_tokens: 1024,
};

const row = (id: string, group: Row['group'], theirs: string, printed: Printed, ours: string, set: Settings): Row =>
  ({ id, group, theirs, printed, ours, set });
const layers = (count: number): Settings => ({ encoder_layers: count, decoder_layers: count });

const ALL: readonly Row[] = [
  row('base', 'base', 'N = 6, d = 512', { perplexity: 4.92, bleu: 25.8, parameters: 65 }, 'N = 3, d = 64', {}),
  row('h1', 'A', 'h = 1, dₖ = 512', { perplexity: 5.29, bleu: 24.9 }, 'h = 1, dₖ = 64', { num_heads: 1 }),
  row('h4', 'A', 'h = 4, dₖ = 128', { perplexity: 5.0, bleu: 25.5 }, 'h = 4, dₖ = 16', { num_heads: 4 }),
  row('h16', 'A', 'h = 16, dₖ = 32', { perplexity: 4.91, bleu: 25.8 }, 'h = 16, dₖ = 4', { num_heads: 16 }),
  row('h32', 'A', 'h = 32, dₖ = 16', { perplexity: 5.01, bleu: 25.4 }, 'h = 32, dₖ = 2', { num_heads: 32 }),
  row('k16', 'B', 'dₖ = 16', { perplexity: 5.16, bleu: 25.1, parameters: 58 }, 'dₖ = 2', { key_dim: 2 }),
  row('k32', 'B', 'dₖ = 32', { perplexity: 5.01, bleu: 25.4, parameters: 60 }, 'dₖ = 4', { key_dim: 4 }),
  row('n2', 'C', 'N = 2', { perplexity: 6.11, bleu: 23.7, parameters: 36 }, 'N = 1', layers(1)),
  row('n4', 'C', 'N = 4', { perplexity: 5.19, bleu: 25.3, parameters: 50 }, 'N = 2', layers(2)),
  row('n8', 'C', 'N = 8', { perplexity: 4.88, bleu: 25.5, parameters: 80 }, 'N = 4', layers(4)),
  row('d256', 'C', 'd = 256', { perplexity: 5.75, bleu: 24.5, parameters: 28 }, 'd = 32', { d_model: 32 }),
  row('d1024', 'C', 'd = 1024', { perplexity: 4.66, bleu: 26.0, parameters: 168 }, 'd = 128', { d_model: 128 }),
  row('ff1024', 'C', 'd_ff = 1024', { perplexity: 5.12, bleu: 25.4, parameters: 53 }, 'd_ff = 128', { ffn_dim: 128 }),
  row('ff4096', 'C', 'd_ff = 4096', { perplexity: 4.75, bleu: 26.2, parameters: 90 }, 'd_ff = 512', { ffn_dim: 512 }),
  row('drop0', 'D', 'P = 0.0', { perplexity: 5.77, bleu: 24.6 }, 'P = 0.0', { dropout: 0 }),
  row('drop2', 'D', 'P = 0.2', { perplexity: 4.95, bleu: 25.5 }, 'P = 0.2', { dropout: 0.2 }),
  row('ls0', 'D', 'ε = 0.0', { perplexity: 4.67, bleu: 25.3 }, 'ε = 0.0', { label_smoothing: 0 }),
  row('ls2', 'D', 'ε = 0.2', { perplexity: 5.47, bleu: 25.7 }, 'ε = 0.2', { label_smoothing: 0.2 }),
  row('learned', 'E', '', { perplexity: 4.92, bleu: 25.7 }, '', { positions: 'learned' }),
  {
    id: 'big',
    group: 'big',
    theirs: 'N = 6, d = 1024, h = 16',
    printed: { perplexity: 4.33, bleu: 26.4, parameters: 213 },
    ours: 'N = 3, d = 128, h = 16',
    set: { d_model: 128, ffn_dim: 512, num_heads: 16, dropout: 0.3 },
  },
];

/** Those whose settings the package has. */
export const ROWS = ALL.filter(({ set }) => Object.keys(set).every((name) => describedAs(name) !== undefined));

/** What a row has given here. */
export interface Own {
  perplexity: number;
  bleu: number;
  /** All of them, not millions. */
  parameters: number;
  seconds: number;
}

/** Results kept as text; none where the text is not theirs. */
export function resultsIn(text: string | null): Record<string, Own> {
  try {
    const all = JSON.parse(text ?? '{}') as Record<string, Own>;
    const isOwn = ([id, { perplexity, bleu, parameters, seconds }]: [string, Own]) =>
      ROWS.some((one) => one.id === id) && [perplexity, bleu, parameters, seconds].every(Number.isFinite);
    return Object.fromEntries(Object.entries(all).filter(isOwn));
  } catch {
    return {};
  }
}
