// Random numbers that are the same on every visit, so that a figure and its text agree.

/** Uniform numbers in [0, 1): the generator "mulberry32". */
export function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Numbers with mean 0 and variance 1, by the method of Box and Muller. */
export function normal(seed: number): () => number {
  const next = uniform(seed);
  return () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

/** A matrix of normal numbers with the standard deviation `deviation`. */
export function normalMatrix(rows: number, columns: number, deviation: number, seed: number): number[][] {
  const next = normal(seed);
  return Array.from({ length: rows }, () => Array.from({ length: columns }, () => deviation * next()));
}
