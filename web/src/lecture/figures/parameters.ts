// How many numbers a Transformer learns, box by box of figure 1, and the models of table 3.
export interface Shape {
  layers: number;
  d: number;
  ff: number;
  heads: number;
  dk: number;
  dv: number;
  vocabulary: number;
}

/** "about 37000 tokens", section 5.1; one table for both languages and the output, section 3.4. */
export const VOCABULARY = 37_000;
export const BASE: Shape = { layers: 6, d: 512, ff: 2048, heads: 8, dk: 64, dv: 64, vocabulary: VOCABULARY };
export const BIG: Shape = { ...BASE, d: 1024, ff: 4096, heads: 16 };

export type Box = 'embedding' | 'encoderSelf' | 'encoderFfn' | 'decoderSelf' | 'decoderCross' | 'decoderFfn' | 'norms';
export interface Count {
  box: Box;
  one: number; // of one box
  boxes: number;
}

/** W^Q, W^K, W^V and W^O of one attention, which have no bias in the paper. */
export const attentionCount = ({ d, heads, dk, dv }: Shape) => heads * (2 * d * dk + 2 * d * dv);
/** Equation 2: two matrices and their biases. */
export const feedForwardCount = ({ d, ff }: Shape) => 2 * d * ff + ff + d;

export function counts(shape: Shape): Count[] {
  const { layers, d, vocabulary } = shape;
  const heads = attentionCount(shape);
  const inner = feedForwardCount(shape);
  return [
    { box: 'embedding', one: vocabulary * d, boxes: 1 },
    { box: 'encoderSelf', one: heads, boxes: layers },
    { box: 'encoderFfn', one: inner, boxes: layers },
    { box: 'decoderSelf', one: heads, boxes: layers },
    { box: 'decoderCross', one: heads, boxes: layers },
    { box: 'decoderFfn', one: inner, boxes: layers },
    { box: 'norms', one: 2 * d, boxes: 5 * layers }, // scale and shift; 2 in an encoder layer, 3 in a decoder layer
  ];
}

export const total = (shape: Shape) => counts(shape).reduce((sum, { one, boxes }) => sum + one * boxes, 0);

export interface Row {
  group: 'base' | 'A' | 'B' | 'C' | 'D' | 'E' | 'big';
  change: string; // as the paper's table has it
  perplexity: number; // per piece of a word, on newstest2013
  bleu: number;
  millions: number; // as the paper has them, 65 where its cell is empty
  shape: Shape;
}

const row = (
  group: Row['group'],
  change: string,
  [perplexity, bleu, millions]: readonly [number, number, number],
  shape: Partial<Shape> = {},
): Row => ({ group, change, perplexity, bleu, millions, shape: { ...BASE, ...shape } });

/** Table 3 of the paper, English to German on the development set. */
export const TABLE_3: readonly Row[] = [
  row('base', '', [4.92, 25.8, 65]),
  row('A', 'h = 1', [5.29, 24.9, 65], { heads: 1, dk: 512, dv: 512 }),
  row('A', 'h = 4', [5.0, 25.5, 65], { heads: 4, dk: 128, dv: 128 }),
  row('A', 'h = 16', [4.91, 25.8, 65], { heads: 16, dk: 32, dv: 32 }),
  row('A', 'h = 32', [5.01, 25.4, 65], { heads: 32, dk: 16, dv: 16 }),
  row('B', 'dₖ = 16', [5.16, 25.1, 58], { dk: 16 }),
  row('B', 'dₖ = 32', [5.01, 25.4, 60], { dk: 32 }),
  row('C', 'N = 2', [6.11, 23.7, 36], { layers: 2 }),
  row('C', 'N = 4', [5.19, 25.3, 50], { layers: 4 }),
  row('C', 'N = 8', [4.88, 25.5, 80], { layers: 8 }),
  row('C', 'd = 256', [5.75, 24.5, 28], { d: 256, dk: 32, dv: 32 }),
  row('C', 'd = 1024', [4.66, 26.0, 168], { d: 1024, dk: 128, dv: 128 }),
  row('C', 'd_ff = 1024', [5.12, 25.4, 53], { ff: 1024 }),
  row('C', 'd_ff = 4096', [4.75, 26.2, 90], { ff: 4096 }),
  row('D', 'P_drop = 0.0', [5.77, 24.6, 65]),
  row('D', 'P_drop = 0.2', [4.95, 25.5, 65]),
  row('D', 'ε_ls = 0.0', [4.67, 25.3, 65]),
  row('D', 'ε_ls = 0.2', [5.47, 25.7, 65]),
  row('E', '', [4.92, 25.7, 65]),
  row('big', '', [4.33, 26.4, 213], BIG),
];
