// The learned numbers of each box of figure 1, from the configuration of the model; together they are all that it has.
import type { ModelConfig } from 'wasmformer';
import { format, type Part, type Stack } from '../place';

export const COUNTED = ['embedding', 'attention', 'unit', 'ffn', 'norm', 'output'] as const;
export type Counted = (typeof COUNTED)[number];
export interface BoxCount {
  id: string; // of the box in the drawing
  what: Counted;
  count: number; // 0 where a matrix is shared with a box that has it
}

/** One color for each kind, everywhere. */
export const colorOf = (what: Counted) => `var(--head-${COUNTED.indexOf(what) + 1})`;

type Config = Readonly<ModelConfig>;

const linear = (from: number, to: number) => from * to + to; // with its bias
const norm = ({ d_model: d }: Config) => 2 * d; // γ and β

/** W^Q, W^K, W^V and W^O with their biases, and what other scores than the dot product learn. */
function attention(config: Config): number {
  const { d_model: d, num_heads: heads } = config;
  const key = config.key_dim || d / heads;
  const scores: Partial<Record<Config['attention'], number>> = { additive: heads * key, bilinear: heads * key * key };
  return 2 * linear(d, heads * key) + 2 * linear(d, d) + (scores[config.attention] ?? 0);
}

/** Equation 2. */
const feedForward = ({ d_model: d, ffn_dim: inner }: Config) => linear(d, inner) + linear(inner, d);
/** The cell that reads earlier tokens in place of the decoder's self-attention: W, and a gate with its bias. */
const recurrentUnit = ({ d_model: d }: Config) => d * d + linear(d, d);

function sublayer(config: Config, stack: Stack, part: Part): Pick<BoxCount, 'what' | 'count'> {
  if (part === 'ffn') return { what: 'ffn', count: feedForward(config) };
  if (part.endsWith('Norm')) return { what: 'norm', count: norm(config) };
  const isUnit = stack === 'dec' && part === 'self' && config.decoder_self === 'ssru';
  return isUnit ? { what: 'unit', count: recurrentUnit(config) } : { what: 'attention', count: attention(config) };
}

const PARTS = { enc: ['self', 'ffn'], dec: ['self', 'cross', 'ffn'] } as const satisfies Partial<Record<Stack, Part[]>>;

function ofStack(config: Config, stack: 'enc' | 'dec'): BoxCount[] {
  const layers = stack === 'enc' ? config.encoder_layers : config.decoder_layers;
  const parts = PARTS[stack].flatMap((part): Part[] => (config.norm === 'none' ? [part] : [part, `${part}Norm`]));
  const ofLayer = (layer: number) =>
    parts.map((part) => ({ id: format({ stack, layer, part }), ...sublayer(config, stack, part) }));
  const all = Array.from({ length: layers }, (_, layer) => ofLayer(layer)).flat();
  return config.norm === 'pre' ? [...all, { id: format({ stack, part: 'norm' }), what: 'norm', count: norm(config) }] : all;
}

/** Both tables of embeddings, with learned positions; one that both stacks use counts in the encoder. */
function ofEmbeddings(config: Config): BoxCount[] {
  const { d_model: d, source_vocab_size: source, target_vocab_size: target } = config;
  const positions = config.positions === 'learned' ? config.max_length * d : 0;
  const own = config.tie_embeddings === 'all' ? 0 : target * d;
  return [
    { id: 'enc.embed', what: 'embedding', count: source * d + positions },
    { id: 'dec.embed', what: 'embedding', count: own + positions },
  ];
}

/** The output projection, which is the table of the target's embeddings unless it has its own, and its bias. */
function ofOutput(config: Config): BoxCount {
  const { d_model: d, target_vocab_size: target } = config;
  const matrix = config.tie_embeddings === 'none' ? target * d : 0;
  return { id: 'out.linear', what: 'output', count: matrix + (config.output_bias ? target : 0) };
}

/** Counts of an encoder-decoder model, box by box. */
export const countsOf = (config: Config): BoxCount[] => [
  ...ofEmbeddings(config),
  ...ofStack(config, 'enc'),
  ...ofStack(config, 'dec'),
  ofOutput(config),
];

const sum = (counts: readonly BoxCount[]) => counts.reduce((total, { count }) => total + count, 0);

export interface Sum {
  what: Counted;
  count: number;
  boxes: number; // that have some
}

/** By kind of box, without kinds that the model does not have; and the total. */
export function sumsOf(counts: readonly BoxCount[]): { sums: Sum[]; total: number } {
  const sums = COUNTED.map((what) => {
    const own = counts.filter((one) => one.what === what && one.count > 0);
    return { what, count: sum(own), boxes: own.length };
  });
  return { sums: sums.filter(({ count }) => count > 0), total: sum(counts) };
}
