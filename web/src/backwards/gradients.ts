// Figure 1 backwards: the box of the picture that a gradient belongs to, and how dark it is drawn.
import type { BackwardPass, BoxGradient, FigurePart } from 'wasmformer';
import type { Geometry } from '../picture/geometry';
import { format, type Part, type Place } from '../picture/place';

const STACKS = { encoder: 'enc', decoder: 'dec', output: 'out' } as const;
const PARTS: Readonly<Record<FigurePart, Part>> = {
  embedding: 'embed',
  selfAttention: 'self',
  selfAttentionNorm: 'selfNorm',
  crossAttention: 'cross',
  crossAttentionNorm: 'crossNorm',
  feedForward: 'ffn',
  feedForwardNorm: 'ffnNorm',
  outputNorm: 'norm',
  output: 'linear',
};

export const placeOf = ({ stack, layer, part }: BoxGradient): Place =>
  ({ stack: STACKS[stack], layer, part: PARTS[part] });

/** The gradients by the names of their boxes in the picture. */
export const gradientsByBox = ({ boxes }: BackwardPass): ReadonlyMap<string, BoxGradient> =>
  new Map(boxes.map((box) => [format(placeOf(box)), box]));

/** Powers of ten below the greatest norm that have a shade; what is smaller has none. */
export const DECADES = 4;

/** How dark a norm is drawn, from 0 to 1, on a logarithmic scale that ends at `greatest`. */
export function shade(norm: number, greatest: number): number {
  if (!(norm > 0) || !(greatest > 0)) return 0;
  return Math.min(1, Math.max(0, 1 + Math.log10(norm / greatest) / DECADES));
}

export const greatestNorm = ({ boxes }: BackwardPass) => Math.max(0, ...boxes.map(({ norm }) => norm));

/** Number of heads of an attention; 0 of other boxes. */
export const headsOf = ({ heads, tokens }: BoxGradient) => (tokens.length === 0 ? 0 : heads.length / tokens.length);

/** The norms of one head by token; without a head, those of the box. */
export function rowOf(box: BoxGradient, head?: number): number[] {
  if (head === undefined) return [...box.tokens];
  const heads = headsOf(box);
  return Array.from(box.tokens, (_, token) => box.heads[token * heads + head]!);
}

/** The norm of all tokens together. */
export const normOf = (row: readonly number[]) => Math.hypot(...row);

/** The drawing with every connector turned round, without what only a search has. */
export function reversed(geometry: Geometry): Geometry {
  const isSearch = (id: string) => ['out.softmax', 'out.beam', 'chart'].includes(id);
  return {
    ...geometry,
    boxes: geometry.boxes.filter(({ id }) => !isSearch(id)),
    wires: geometry.wires
      .filter(({ from, to }) => !isSearch(from) && !isSearch(to))
      .map((wire) => ({ ...wire, points: wire.points.toReversed() })),
  };
}

/** How the gradient changes on its way: at the output, at the embeddings of the source and of the decoder, and their quotients. */
export function passage(pass: BackwardPass) {
  const boxes = gradientsByBox(pass);
  const [top, bottom, own] = ['out.linear', 'enc.embed', 'dec.embed'].map((id) => boxes.get(id)?.norm ?? 0);
  return { top, bottom, own, factor: bottom / top, ownFactor: own / top };
}
