// Norms as people read them: three digits, and a power of ten where they are small.
import { number } from '../shared/words/speech.svelte';

const SMALL = 0.001;

export const normText = (norm: number) =>
  number(norm, {
    maximumSignificantDigits: 3,
    ...(norm !== 0 && Math.abs(norm) < SMALL && { notation: 'scientific' }),
  });
