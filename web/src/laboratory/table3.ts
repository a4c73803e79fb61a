// Rows of Table 3 as they are trained here: models of an eighth of the width and half of the layers.
import { TABLE_3, type Row as Printed } from '../lecture/figures/parameters';
import { describedAs, type Settings } from './ablation';

export interface Row {
  id: string;
  printed: Printed;
  /** The change in the paper's symbols, with the sizes here; '' where words say it. */
  ours: string;
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

const layers = (count: number): Settings => ({ encoder_layers: count, decoder_layers: count });

/** Models here for each row of the paper, in its order. */
const OURS: readonly (readonly [id: string, ours: string, set: Settings])[] = [
  ['base', 'N = 3, d = 64, h = 8', {}],
  ['h1', 'h = 1', { num_heads: 1 }],
  ['h4', 'h = 4', { num_heads: 4 }],
  ['h16', 'h = 16', { num_heads: 16 }],
  ['h32', 'h = 32', { num_heads: 32 }],
  ['k16', 'dₖ = 2', { key_dim: 2 }],
  ['k32', 'dₖ = 4', { key_dim: 4 }],
  ['n2', 'N = 1', layers(1)],
  ['n4', 'N = 2', layers(2)],
  ['n8', 'N = 4', layers(4)],
  ['d256', 'd = 32', { d_model: 32 }],
  ['d1024', 'd = 128', { d_model: 128 }],
  ['ff1024', 'd_ff = 128', { ffn_dim: 128 }],
  ['ff4096', 'd_ff = 512', { ffn_dim: 512 }],
  ['drop0', 'P_drop = 0.0', { dropout: 0 }],
  ['drop2', 'P_drop = 0.2', { dropout: 0.2 }],
  ['ls0', 'ε_ls = 0.0', { label_smoothing: 0 }],
  ['ls2', 'ε_ls = 0.2', { label_smoothing: 0.2 }],
  ['learned', '', { positions: 'learned' }],
  ['big', 'N = 3, d = 128, h = 16', { d_model: 128, ffn_dim: 512, num_heads: 16, dropout: 0.3 }],
];

const ALL = OURS.map(([id, ours, set], i): Row => ({ id, ours, set, printed: TABLE_3[i] }));

/** The paper's change in its symbols, or the sizes of a whole model; '' where words say it. */
export function theirs({ printed: { group, change, shape } }: Row): string {
  const isModel = group === 'base' || group === 'big';
  return isModel ? `N = ${shape.layers}, d = ${shape.d}, h = ${shape.heads}` : change;
}

/** The paper leaves the cell empty where nothing differs from the base model. */
export const millionsOf = ({ printed: { group, millions } }: Row) =>
  (group === 'base' || millions !== TABLE_3[0].millions ? millions : null);

/** Rows whose settings the package has. */
export const ROWS = ALL.filter(({ set }) => Object.keys(set).every((name) => describedAs(name) !== undefined));

/** Results of training a row here. */
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
