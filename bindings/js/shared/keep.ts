// The option `keep`: names go to the module as they are, regular expressions as the ranges that they find.
import { isObject, show } from './checks.js';
import { WasmformerTypeError } from './errors.js';

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** Whether a place is within a surrogate pair, where expressions without the flag u may begin and end. */
const isWithinPair = (text: string, place: number) => /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(place - 1, place + 1));

/**
 * Finds of the patterns, as the module reads them: for each the number of its text, and its start and end in
 * bytes of UTF-8. Skips matches that are empty or overlap an earlier match.
 */
function rangesOf(text: string, number: number, patterns: readonly RegExp[]): number[] {
  const found = patterns.flatMap((pattern) => {
    const everywhere = new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`);
    const matches = Array.from(text.matchAll(everywhere)).filter(([match]) => match !== '');
    return matches.map(({ 0: match, index }) => ({
      start: isWithinPair(text, index) ? index - 1 : index,
      end: isWithinPair(text, index + match.length) ? index + match.length + 1 : index + match.length,
    }));
  });
  const ranges: number[] = [];
  let last = 0;
  for (const { start, end } of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < last) continue; // without the flag u, both halves of a pair are found
    ranges.push(number, bytesOf(text.slice(0, start)), bytesOf(text.slice(0, end)));
    last = end;
  }
  return ranges;
}

/** The options with the module's word for `keep: false`. */
export function withKeepOff(options: unknown): unknown {
  return isObject(options) && 'keep' in options && options.keep === false ? { ...options, keep: ['off'] } : options;
}

/** The options as the module reads them. Throws a WasmformerTypeError if `keep` is neither false nor an array. */
export function withKeptRanges(text: unknown, options: unknown): unknown {
  if (!isObject(options) || !('keep' in options) || options.keep === undefined) return options;
  const { keep, ...rest } = options;
  if (keep === false) return withKeepOff(options);
  if (!Array.isArray(keep)) {
    throw new WasmformerTypeError('translate', `keep must be false or an array of names and regular expressions, not ${show(keep)}`);
  }
  const patterns = keep.filter((item) => item instanceof RegExp);
  const names: unknown[] = keep.filter((item) => !(item instanceof RegExp));
  if (patterns.length === 0) return { ...rest, keep: names };
  const texts: unknown[] = Array.isArray(text) ? text : [text];
  return { ...rest, keep: names, keptRanges: texts.flatMap((one, i) => rangesOf(String(one), i, patterns)) };
}
