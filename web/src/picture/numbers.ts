// The numbers of a translation that belong to a place in the picture.
import type {
  AttentionHead,
  AttentionInternals,
  AttentionMaps,
  LayerInternals,
  Matrix,
  Translation,
  TranslatorInfo,
} from 'wasmformer';
import { pieceName } from '../shared/attention/piece-names';
import { readPieces, type AttentionMap, type Kind, type Maps } from '../shared/attention/attention';
import { stackInput, type Arithmetic } from './arithmetic';
import type { Part, Place, Sizes } from './place';

/** A translation with everything that the picture shows. */
export type Inside = Translation & Required<Pick<Translation, 'attention' | 'internals'>>;

/** Data that the inside of every box is drawn from. */
export interface SceneProps {
  result: Inside;
  place: Place;
  sizes: Sizes;
  config: TranslatorInfo['config'];
  known: number; // rows of the decoder that are computed by now
  room: number; // rem from top to bottom
}

/** A cell of a map that is looked at, and how its weight comes about. */
export interface OpenedCell {
  row: number;
  column: number;
  sum: Arithmetic;
  weight: number; // as the model has it
}

/** Data that the figure can be drawn from without internals: the tokens and attention of a ready-made translation. */
export type Sketch = Pick<Translation, 'sourceTokens' | 'targetTokens'> & { attention: Record<Kind, Maps> };

export const isWhole = (result: Translation | Sketch | null): result is Inside =>
  !!(result?.attention && 'internals' in result && result.internals);

export const stackOf = ({ internals }: Inside, { stack }: Place) =>
  internals[stack === 'enc' ? 'encoder' : 'decoder'];

export function kindOf({ stack, part }: Place): Kind {
  if (stack === 'enc') return 'encoder';
  return part === 'cross' ? 'cross' : 'decoder';
}

/** As the package names it. */
export const headAt = (place: Place): AttentionHead => ({
  attention: kindOf(place),
  layer: place.layer!,
  head: place.head!,
});

export interface AttentionAt {
  kind: Kind;
  internals: AttentionInternals;
  maps: AttentionMaps;
  rows: string[]; // pieces
  queries: string[]; // pieces that the queries of the rows are of
  columns: string[];
}

const read = (result: Inside) => readPieces(result.targetTokens.map(({ piece }) => piece));

/** The rows of a stack: tokens of the source, or the steps of decoding, named after the tokens that they write. */
export const rowsOf = (result: Inside, { stack, part }: Place) =>
  stack !== 'enc' && part === 'embed'
    ? read(result)
    : result[stack === 'enc' ? 'sourceTokens' : 'targetTokens'].map(({ piece }) => piece);

/** A step of decoding by what it reads and what it then writes, since its query belongs to the first of them. */
const stepName = (input: string, output: string) => `${pieceName(input)} → ${pieceName(output)}`;

export function attentionAt(result: Inside, place: Place): AttentionAt {
  const kind = kindOf(place);
  const layer = stackOf(result, place).layers[place.layer!];
  const source = result.sourceTokens.map(({ piece }) => piece);
  const steps = rowsOf(result, place);
  const queries = kind === 'decoder' ? read(result) : steps;
  return {
    kind,
    internals: kind === 'cross' ? layer.crossAttention! : layer.selfAttention,
    maps: result.attention[kind],
    rows: kind === 'decoder' ? queries.map((piece, i) => stepName(piece, steps[i]!)) : steps,
    queries,
    columns: kind === 'decoder' ? read(result) : source,
  };
}

export function headMap({ maps }: AttentionAt, layer: number, head: number): AttentionMap {
  return { data: maps.map(layer, head), rows: maps.rows, columns: maps.columns };
}

export interface Residual {
  before: Matrix;
  added: Matrix; // the sublayer's output
  after: Matrix; // post-norm: the norm of the sum; pre-norm: the sum
}

const sublayerOf = (part: Part): 'self' | 'cross' | 'ffn' => part.replace('Norm', '') as 'self' | 'cross' | 'ffn';

/** The residual stream around a sublayer, or around the norm that belongs to it. */
export function residualAt(result: Inside, place: Place): Residual {
  const stack = stackOf(result, place);
  const layer = stack.layers[place.layer!];
  const start = place.layer === 0 ? stackInput(stack) : stack.layers[place.layer! - 1].afterFeedForward;
  const part = sublayerOf(place.part!);
  const before = part === 'self' ? start : (part === 'ffn' && layer.afterCrossAttention) || layer.afterSelfAttention;
  const [change, after] = changeAt(layer, part);
  return { before, added: change, after };
}

function changeAt(layer: LayerInternals, part: 'self' | 'cross' | 'ffn'): [Matrix, Matrix] {
  if (part === 'self') return [layer.selfAttention.projected, layer.afterSelfAttention];
  if (part === 'cross') return [layer.crossAttention!.projected, layer.afterCrossAttention!];
  return [layer.feedForward.output, layer.afterFeedForward];
}

export const hiddenAt = (result: Inside, place: Place) =>
  stackOf(result, place).layers[place.layer!].feedForward.hidden;

export function rowsOnly(numbers: Matrix, from: number, count: number): Matrix {
  const { columns, data } = numbers;
  return { columns, rows: count, data: data.subarray(from * columns, (from + count) * columns) };
}

/** Rem that each of so many rows takes at least: a name's height, unless there are too many to be seen together. */
export const lowest = (rows: number) => (rows <= 16 ? 0.72 : Math.max(0.3, 11.5 / rows));
