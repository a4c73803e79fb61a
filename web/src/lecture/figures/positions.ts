// Section 3.5: the sinusoids, and what two positions have in common.
import { dot, type Matrix } from './matrix';

/** PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) the cosine of the same: length × d. */
export function positions(length: number, d: number): number[][] {
  return Array.from({ length }, (_, position) =>
    Array.from({ length: d }, (_, column) => {
      const pair = column - (column % 2);
      const angle = position / 10000 ** (pair / d);
      return column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    }),
  );
}

/** Positions after which the wave in a column begins again. */
export const waveLength = (column: number, d: number) => 2 * Math.PI * 10000 ** ((column - (column % 2)) / d);

/** Dot product of each row with row `at`, divided by that of the row with itself. */
export function likeness(rows: Matrix, at: number): number[] {
  const own = dot(rows[at], rows[at]);
  return rows.map((row) => dot(row, rows[at]) / own);
}
