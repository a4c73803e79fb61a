const LEVELS = 32;

/** Color of a number from -1 to 1; numbers below 0 only where they are signed. */
export function shade(value: number, signed: boolean, color = 'var(--attention)'): string {
  const level = Math.round(Math.min(1, Math.max(signed ? -1 : 0, value)) * LEVELS);
  const part = (100 * Math.abs(level)) / LEVELS;
  return `color-mix(in oklab, ${level < 0 ? 'var(--head-2)' : color} ${part}%, var(--sheet))`;
}
