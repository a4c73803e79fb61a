// Section 3.4: how large an embedding is beside the position that is added to it.
import { rootMeanSquare } from './matrix';
import { positions } from './positions';

const PLACES = 12; // any number of positions has the same size

export interface SizesOf {
  embedding: number; // usual size of one of its numbers
  position: number;
}

/** Embeddings begin with a standard deviation of d^-0.5; with the factor of the paper they are multiplied by √d. */
export function sizes(d: number, isMultiplied: boolean): SizesOf {
  const factor = isMultiplied ? Math.sqrt(d) : 1;
  return { embedding: factor * d ** -0.5, position: rootMeanSquare(positions(PLACES, d).flat()) };
}
