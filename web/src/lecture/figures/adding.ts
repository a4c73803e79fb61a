// Why a position can be added: word and place are both read back from the sum if the rows are wide enough.
import { dot, type Matrix } from './matrix';
import { positions } from './positions';
import { normalMatrix } from './random';

export const WORDS = 40;
export const PLACES = 20;
const SEED = 5;

/** The row of the table that a sum is nearest to. */
function nearest(sum: readonly number[], table: Matrix): number {
  const distances = table.map((row) => dot(row, row) - 2 * dot(row, sum));
  return distances.indexOf(Math.min(...distances));
}

export interface Reading {
  word: number; // share of all sums whose word is read rightly
  place: number;
}

/** Adds every word to every place; reads the word from the sum, takes its row away and reads the place from the rest. */
export function readBack(d: number): Reading {
  const words = normalMatrix(WORDS, d, 1, SEED);
  const places = positions(PLACES, d);
  let [word, place] = [0, 0];
  for (const [w, row] of words.entries()) {
    for (const [p, wave] of places.entries()) {
      const sum = row.map((value, i) => value + wave[i]);
      const read = nearest(sum, words);
      const rest = sum.map((value, i) => value - words[read][i]);
      if (read === w) word += 1;
      if (nearest(rest, places) === p) place += 1;
    }
  }
  const all = WORDS * PLACES;
  return { word: word / all, place: place / all };
}
