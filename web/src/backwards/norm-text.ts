// Norms as people read them: three digits, and a power of ten where they are small.
import { number } from '../shared/words/speech.svelte';

const SMALL = 0.001;

const [RAISED, MINUS] = ['⁰¹²³⁴⁵⁶⁷⁸⁹', '⁻'];
const DIGITS = { maximumSignificantDigits: 3 };

/** '0.0123', or '5.78 × 10⁻⁶'. */
export function normText(norm: number): string {
  if (norm === 0 || Math.abs(norm) >= SMALL) return number(norm, DIGITS);
  const [mantissa, power] = norm.toExponential(2).split('e-');
  return `${number(Number(mantissa), DIGITS)} × 10${MINUS}${[...power!].map((digit) => RAISED[Number(digit)]).join('')}`;
}
