// Made-up texts for encoders to learn from, the same for the same seed.
export const words = ['play', 'some', 'jazz', 'in', 'rome', 'now'];

/** Texts of 2 to 5 words each. */
export function drawnTexts(count, seed) {
  let state = seed;
  const draw = () => words[(state = (state * 48271) % 2147483647) % words.length];
  return Array.from({ length: count }, (_, i) => Array.from({ length: 2 + (i % 4) }, draw));
}
