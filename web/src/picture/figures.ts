// The small picture that each box carries: what the model computed in it, up to the step that is shown.
import { stackInput } from './arithmetic';
import type { Box } from './geometry';
import { attentionAt, headMap, hiddenAt, residualAt, rowsOnly, stackOf, type Inside } from './numbers';
import type { Sizes } from './place';
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

/** Where the heads' maps stand at the right of a box: in the number of rows that makes them largest. */
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
    x: left + (h % columns) * (size + 4), y: top + Math.floor(h / columns) * (size + 3), size,
  }));
}

/** Bars from the middle of a line, one for each row. */
function barsOf(values: readonly number[], width: number, height: number): string {
  const most = Math.max(...values, 1e-9);
  const step = width / values.length;
  return values.map((value, i) => {
    const bar = Math.max(0.5, (value / most) * height);
    return `M${(i * step).toFixed(2)} ${(height - bar).toFixed(2)}h${(step * 0.72).toFixed(2)}v${bar.toFixed(2)}h${(-step * 0.72).toFixed(2)}z`;
  }).join('');
}

/** Where a row of numbers stands at the right of a box. */
function strip(box: Box, width: number): Pick<Thumb, 'x' | 'y' | 'width' | 'height'> {
  const space = Math.min(4, box.height / 6);
  return { x: box.width - ROOM - width, y: space, width, height: box.height - 2 * space };
}

/** `known`: rows of the decoder that are computed by now. */
export function figure(result: Inside, box: Box, sizes: Sizes, known: number, room: number): Thumb[] {
  const { place, kind } = box;
  const own = place.stack === 'enc' ? undefined : known;
  if (kind === 'attention') {
    const at = attentionAt(result, place);
    return headPlaces(box, sizes.heads, room).map(({ x, y, size }, head) => ({
      x, y, width: size, height: size,
      heat: heat(headMap(at, place.layer!, head), size, size, own),
      hatch: at.kind === 'decoder' ? masked(at.maps.rows, size, size) : undefined,
    }));
  }
  if (kind === 'ffn' || kind === 'unit') {
    const at = strip(box, room);
    const numbers = kind === 'ffn' ? hiddenAt(result, place) : residualAt(result, place).added;
    return [{ ...at, signed: signed(numbers, at.width, at.height, own) }];
  }
  if (kind === 'embed') {
    const at = strip(box, room);
    return [{ ...at, signed: signed(stackInput(stackOf(result, place)), at.width, at.height, own) }];
  }
  if (kind === 'norm' && place.layer !== undefined) {
    const at = strip(box, room);
    const { before, after } = residualAt(result, place);
    const moves = change(before, after).map((value, row) => (row < (own ?? Infinity) ? value : 0));
    return [{ ...at, bars: barsOf(moves, at.width, at.height) }];
  }
  if (kind === 'norm' || place.part === 'linear') {
    const at = strip(box, room);
    const output = stackOf(result, place).output;
    const shown = place.part === 'linear' ? rowsOnly(output, known - 1, 1) : output;
    return [{ ...at, signed: signed(shown, at.width, at.height, place.part === 'linear' ? 1 : own) }];
  }
  return [];
}
