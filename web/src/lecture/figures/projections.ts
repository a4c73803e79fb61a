// Section 3.2.2 with numbers small enough to see: six tokens, d = 9 and three heads of width 3.
import { attention, columnsOf, product, type Attention, type Matrix } from './matrix';
import { normalMatrix } from './random';

export const TOKENS = 6;
export const WIDTH = 9;
export const HEADS = 3;
export const HEAD_WIDTH = WIDTH / HEADS;

export type Role = 'q' | 'k' | 'v';
const SEEDS: Record<Role, number> = { q: 3, k: 4, v: 5 };

export const input = (): number[][] => normalMatrix(TOKENS, WIDTH, 1, 1);
/** W^Q, W^K or W^V of all heads beside each other: 9 × 9. */
export const weightsOf = (role: Role): number[][] => normalMatrix(WIDTH, WIDTH, 1 / Math.sqrt(WIDTH), SEEDS[role]);
/** The columns of a matrix that belong to a head. */
export const ofHead = (matrix: Matrix, head: number) =>
  columnsOf(matrix, head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH);

/** Attention of one head: 6 × 6 weights and a 6 × 3 output. */
export function attentionOf(x: Matrix, head: number): Attention {
  const [q, k, v] = (['q', 'k', 'v'] as const).map((role) => ofHead(product(x, weightsOf(role)), head));
  return attention(q, k, v);
}
