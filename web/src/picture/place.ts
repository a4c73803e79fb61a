// A place in the picture, from the whole model down to one cell of a head; `at=dec.2.cross.h3.5-2` in the address.
import type { TranslatorInfo } from 'wasmformer';

export type Stack = 'enc' | 'dec' | 'out';
/** Parts of a stack; an Add & Norm belongs to the sublayer before it. */
export type Part =
  'embed' | 'self' | 'selfNorm' | 'cross' | 'crossNorm' | 'ffn' | 'ffnNorm' | 'norm' | 'linear' | 'softmax' | 'beam';

/** Numbers count from 0, in the address from 1. Nothing set: the whole model. */
export interface Place {
  stack?: Stack;
  layer?: number;
  part?: Part;
  head?: number;
  cell?: { row: number; column: number };
}

export interface Sizes {
  encoderLayers: number;
  decoderLayers: number;
  heads: number;
  norm: 'post' | 'pre' | 'none';
  rotary?: boolean; // no positions are added to embeddings
  noResidual?: boolean; // the input of a sublayer is not added to its output
  recurrent?: boolean; // a unit without heads in place of masked self-attention
}

/** Sizes of a model that the drawing needs. */
export const sizesOf = (config: TranslatorInfo['config']): Sizes => ({
  encoderLayers: config.encoder_layers,
  decoderLayers: config.decoder_layers,
  heads: config.num_heads,
  norm: config.norm,
  recurrent: config.decoder_self === 'ssru',
  rotary: ['rotary', 'none'].includes(config.positions),
  noResidual: config.residual === false,
});

export const isUnit = ({ stack, part }: Place, sizes: Sizes) =>
  !!sizes.recurrent && stack === 'dec' && part === 'self';
export const isAttention = (place: Place, sizes: Sizes) =>
  (place.part === 'self' || place.part === 'cross') && !isUnit(place, sizes);
export const layersOf = (sizes: Sizes, stack: Stack) =>
  ({ enc: sizes.encoderLayers, dec: sizes.decoderLayers, out: 0 })[stack];

const ENCODER: readonly Part[] = ['self', 'selfNorm', 'ffn', 'ffnNorm'];
const DECODER: readonly Part[] = ['self', 'selfNorm', 'cross', 'crossNorm', 'ffn', 'ffnNorm'];
export function partsOf(stack: Stack, sizes: Sizes): readonly Part[] {
  const parts = { enc: ENCODER, dec: DECODER, out: [] }[stack];
  return sizes.norm === 'none' ? parts.filter((part) => !part.endsWith('Norm')) : parts;
}

/** The parts of a stack that belong to none of its layers. */
function partsOutside(stack: Stack, sizes: Sizes): readonly Part[] {
  if (stack === 'out') return ['linear', 'softmax', 'beam'];
  return sizes.norm === 'pre' ? ['embed', 'norm'] : ['embed'];
}

export function format({ stack, layer, part, head, cell }: Place): string {
  const words = [
    stack,
    layer !== undefined && layer + 1,
    part,
    head !== undefined && `h${head + 1}`,
    cell && `${cell.row + 1}-${cell.column + 1}`,
  ];
  return words.filter(Boolean).join('.');
}

/** The place of an address, as far as this model has it. */
export function parse(text: string | undefined, sizes: Sizes): Place {
  const words = (text ?? '').split('.');
  const stack = words.shift() as Stack;
  if (!['enc', 'dec', 'out'].includes(stack)) return {};
  const place: Place = { stack };
  const layer = /^\d+$/.test(words[0] ?? '') ? Number(words.shift()) - 1 : undefined;
  if (layer !== undefined) {
    if (layer < 0 || layer >= layersOf(sizes, stack)) return place;
    place.layer = layer;
  }
  const part = words.shift() as Part;
  const parts = layer === undefined ? partsOutside(stack, sizes) : partsOf(stack, sizes);
  if (!parts.includes(part)) return stack === 'out' ? {} : place;
  place.part = part;
  const head = Number(/^h(\d+)$/.exec(words[0] ?? '')?.[1] ?? 0) - 1;
  if (!isAttention(place, sizes) || head < 0 || head >= sizes.heads) return place;
  place.head = head;
  const cell = /^(\d+)-(\d+)$/.exec(words[1] ?? '');
  if (cell && Number(cell[1]) > 0 && Number(cell[2]) > 0) {
    place.cell = { row: Number(cell[1]) - 1, column: Number(cell[2]) - 1 };
  }
  return place;
}

/** From the whole model to a place: what a visitor presses one after the other to get there. */
export function trail(place: Place): Place[] {
  const { stack, layer, part, head, cell } = place;
  const all: Place[] = [{}];
  if (stack && stack !== 'out') all.push({ stack });
  if (layer !== undefined) all.push({ stack, layer });
  if (part) all.push({ stack, layer, part });
  if (head !== undefined) all.push({ stack, layer, part, head });
  if (cell) all.push(place);
  return all;
}

/** One step out; the whole model stays. */
export const outer = (place: Place): Place => trail(place).at(-2) ?? {};

/** The same place one layer or head later (`by` 1) or earlier (-1); null if there is no such layer or head. */
export function beside(place: Place, by: number, sizes: Sizes): Place | null {
  if (place.head !== undefined) {
    const head = place.head + by;
    return head >= 0 && head < sizes.heads ? { ...place, head } : null;
  }
  if (place.layer === undefined) return null;
  const layer = place.layer + by;
  return layer >= 0 && layer < layersOf(sizes, place.stack!) ? { ...place, layer } : null;
}
