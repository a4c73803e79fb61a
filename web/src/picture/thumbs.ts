// Numbers as small pictures in SVG: one path for each shade, so that a drawing of many heads stays light.
import type { Matrix } from 'wasmformer';

export interface Shade {
  level: number; // 1 … LEVELS of a heat map; of signed numbers -SIGNED … SIGNED without 0
  d: string;
}

export const LEVELS = 8;
export const SIGNED = 5;
const MOST_CELLS = 28; // in a direction; of more, the greatest of neighbors is drawn

const short = (x: number) => String(Math.round(x * 100) / 100);

function shades(
  rows: number,
  columns: number,
  width: number,
  height: number,
  level: (row: number, column: number) => number,
): Shade[] {
  const paths = new Map<number, string[]>();
  const [w, h] = [width / columns, height / rows];
  for (let r = 0; r < rows; ++r) {
    for (let c = 0; c < columns; ++c) {
      const at = level(r, c);
      if (at === 0) continue;
      if (!paths.has(at)) paths.set(at, []);
      paths.get(at)!.push(`M${short(c * w)} ${short(r * h)}h${short(w)}v${short(h)}h${short(-w)}z`);
    }
  }
  return [...paths].map(([at, parts]) => ({ level: at, d: parts.join('') }));
}

/** A map of probabilities; rows from `known` on are not computed yet and stay empty. */
export function heat(map: Matrix, width: number, height: number, known = map.rows): Shade[] {
  const [rows, columns] = [Math.min(MOST_CELLS, map.rows), Math.min(MOST_CELLS, map.columns)];
  return shades(rows, columns, width, height, (row, column) => {
    let most = 0;
    for (let r = Math.floor((row * map.rows) / rows); r < ((row + 1) * map.rows) / rows; ++r) {
      if (r >= known) break;
      for (let c = Math.floor((column * map.columns) / columns); c < ((column + 1) * map.columns) / columns; ++c) {
        most = Math.max(most, map.data[r * map.columns + c]);
      }
    }
    return Math.round(most * LEVELS);
  });
}

/** The part above the diagonal, which the mask hides. */
export function masked(size: number, width: number, height: number): string {
  const count = Math.min(MOST_CELLS, size);
  const [w, h] = [width / count, height / count];
  const steps = Array.from(
    { length: count - 1 },
    (_, r) => `V${short((r + 1) * h)}H${short(Math.min(width, (r + 2) * w))}`,
  );
  return count < 2 ? '' : `M${short(w)} 0${steps.join('')}V0z`;
}

/** Rows of numbers below and above 0: of many columns every k-th one. */
export function signed(
  numbers: Matrix,
  width: number,
  height: number,
  known = numbers.rows,
  most = greatest(numbers),
): Shade[] {
  const columns = Math.min(numbers.columns, 2 * MOST_CELLS);
  const rows = Math.min(MOST_CELLS, numbers.rows);
  return shades(rows, columns, width, height, (row, column) => {
    const r = Math.floor((row * numbers.rows) / rows);
    if (r >= known) return 0;
    const value = numbers.data[r * numbers.columns + Math.floor((column * numbers.columns) / columns)];
    return Math.round(SIGNED * Math.min(1, Math.max(-1, value / most))) || 0;
  });
}

/** Nearly the greatest of the numbers' sizes: a few giants would leave the others without color. */
export function greatest({ data }: Matrix): number {
  const step = Math.max(1, Math.floor(data.length / 2000));
  const sizes = Array.from({ length: Math.ceil(data.length / step) }, (_, i) => Math.abs(data[i * step])).sort(
    (a, b) => a - b,
  );
  return sizes[Math.floor(sizes.length * 0.98)] || 1;
}

const rowAt = ({ data, columns }: Matrix, row: number) => data.subarray(row * columns, (row + 1) * columns);

export interface Moments {
  mean: number;
  deviation: number;
}

/** Mean and deviation that layer normalization takes out of a row. */
export function moments(numbers: Matrix, row: number): Moments {
  const values = rowAt(numbers, row);
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  return { mean, deviation: Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length) };
}

/** Every row without its mean and over its deviation. */
export function normalized(numbers: Matrix): Matrix {
  const all = Array.from({ length: numbers.rows }, (_, row) => moments(numbers, row));
  const data = numbers.data.map((x, i) => {
    const { mean, deviation } = all[Math.floor(i / numbers.columns)];
    return (x - mean) / (deviation || 1);
  });
  return { ...numbers, data };
}

export const added = (a: Matrix, b: Matrix): Matrix => ({
  ...a,
  data: a.data.map((x, i) => x + b.data[i]),
});

/** How far a sublayer moved each row: the length of the difference over the length before. */
export function change(before: Matrix, after: Matrix): number[] {
  const length = (values: Float32Array) => Math.hypot(...values);
  return Array.from({ length: before.rows }, (_, r) => {
    const [from, to] = [rowAt(before, r), rowAt(after, r)];
    return length(to.map((x, i) => x - from[i])) / (length(from) || 1);
  });
}
