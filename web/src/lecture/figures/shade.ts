const LEVELS = 32;

/** Color of a number from -1 to 1: a signed one on the page's scale of signed numbers, any other the darker the larger. */
export function shade(value: number, signed: boolean): string {
  const level = Math.round(Math.min(1, Math.max(signed ? -1 : 0, value)) * LEVELS);
  const part = (100 * Math.abs(level)) / LEVELS;
  if (!signed) return `color-mix(in oklab, var(--attention) ${part}%, var(--sheet))`;
  return `color-mix(in oklab, var(${level < 0 ? '--below' : '--above'}) ${part}%, var(--zero))`;
}
