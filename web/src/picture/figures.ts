// The small picture that each box carries: what the model computed in it, up to the step that is shown.
import { stackInput } from './arithmetic';
import type { Box } from './geometry';
import { selectMap } from '../shared/attention/attention';
import { hiddenAt, isWhole, kindOf as attentionKind, residualAt, rowsOnly, stackOf, type Inside, type Sketch } from './numbers';
import type { Place, Sizes } from './place';
import { change, heat, masked, signed, type Shade } from './thumbs';

export interface Thumb {
  x: number;
  y: number;
  width: number;
  height: number;
  heat?: Shade[];
  signed?: Shade[];
  hatch?: string;
  bars?: string;
}

const ROOM = 8; // around the pictures

/** Places the heads' maps at the right of a box, in the number of rows that makes them largest. */
export function headPlaces(box: Box, heads: number, room: number): { x: number; y: number; size: number }[] {
  let best = { size: 0, rows: 1, columns: heads };
  for (let rows = 1; rows <= heads; ++rows) {
    const columns = Math.ceil(heads / rows);
    const size = Math.min((box.height - 6 - (rows - 1) * 3) / rows, (room - (columns - 1) * 4) / columns);
    if (size > best.size) best = { size, rows, columns };
  }
  const { size, rows, columns } = best;
  const top = (box.height - rows * size - (rows - 1) * 3) / 2;
  const left = box.width - ROOM - columns * size - (columns - 1) * 4;
  return Array.from({ length: heads }, (_, h) => ({
    x: left + (h % columns) * (size + 4),
    y: top + Math.floor(h / columns) * (size + 3),
    size,
  }));
}

/** Bars from the middle of a line, one for each row. */
function barsOf(values: readonly number[], width: number, height: number): string {
  const most = Math.max(...values, 1e-9);
  const step = width / values.length;
  return values
    .map((value, i) => {
      const bar = Math.max(0.5, (value / most) * height);
      const [x, y, wide, high] = [i * step, height - bar, step * 0.72, bar].map((length) => length.toFixed(2));
      return `M${x} ${y}h${wide}v${high}h-${wide}z`;
    })
    .join('');
}

/** Places a row of numbers at the right of a box. */
function strip(box: Box, width: number): Pick<Thumb, 'x' | 'y' | 'width' | 'height'> {
  const space = Math.min(4, box.height / 6);
  return { x: box.width - ROOM - width, y: space, width, height: box.height - 2 * space };
}

/** `known`: rows of the decoder that are computed by now. */
export function figure(result: Inside | Sketch, box: Box, sizes: Sizes, known: number, room: number): Thumb[] {
  const { place, kind } = box;
  const own = place.stack === 'enc' ? undefined : known;
  if (kind === 'attention') return headMaps(result, box, sizes, own, room);
  return isWhole(result) ? numbersIn(result, box, known, room) : [];
}

function numbersIn(result: Inside, box: Box, known: number, room: number): Thumb[] {
  const { place, kind } = box;
  const own = place.stack === 'enc' ? undefined : known;
  const at = strip(box, room);
  const numbers = (shown: Parameters<typeof signed>[0], rows: number | undefined): Thumb[] =>
    [{ ...at, signed: signed(shown, at.width, at.height, rows) }];
  if (place.part === 'linear') return numbers(rowsOnly(stackOf(result, place).output, known - 1, 1), 1);
  switch (kind) {
    case 'ffn':
      return numbers(hiddenAt(result, place), own);
    case 'unit':
      return numbers(residualAt(result, place).added, own);
    case 'embed':
      return numbers(stackInput(stackOf(result, place)), own);
    case 'norm':
      if (place.layer === undefined) return numbers(stackOf(result, place).output, own);
      return [{ ...at, bars: barsOf(movesAt(result, place, own), at.width, at.height) }];
    default:
      return [];
  }
}

/** How far a sublayer moves each row that is computed by now. */
function movesAt(result: Inside, place: Place, own: number | undefined): number[] {
  const { before, after } = residualAt(result, place);
  return change(before, after).map((value, row) => (row < (own ?? Infinity) ? value : 0));
}

function headMaps(
  { attention }: Inside | Sketch,
  box: Box,
  sizes: Sizes,
  own: number | undefined,
  room: number,
): Thumb[] {
  const kind = attentionKind(box.place);
  const maps = attention[kind];
  return headPlaces(box, sizes.heads, room).map(({ x, y, size }, head) => ({
    x,
    y,
    width: size,
    height: size,
    heat: heat(selectMap(maps, box.place.layer!, head), size, size, own),
    hatch: kind === 'decoder' ? masked(maps.rows, size, size) : undefined,
  }));
}
