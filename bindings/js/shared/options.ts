// Checks what callers pass: an unknown option is refused by its name, a wrong value by name and value.
import type { SearchOptions } from './protocol.js';
import type { AttentionHead, TranslateOptions } from './types.js';

const attentionKinds = ['encoder', 'decoder', 'cross'];

export interface Rule {
  accepts(value: unknown): boolean;
  expected: string;
}
export type Rules<T> = Record<keyof T & string, Rule>;

const largest = 2 ** 31 - 1; // a whole number of the WebAssembly side
export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

export const whole = (low: number, high = largest): Rule => ({
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high,
  expected: `a whole number from ${low} to ${high}`,
});
export const oneOf = (...words: string[]): Rule => ({
  accepts: (value) => words.includes(value as string),
  expected: words.map((word) => `'${word}'`).join(', ').replace(/, ([^,]*)$/, ' or $1'),
});
export const boolean: Rule = { accepts: (value) => typeof value === 'boolean', expected: 'true or false' };
export const string: Rule = { accepts: (value) => typeof value === 'string', expected: 'a string' };
export const callback: Rule = { accepts: (value) => typeof value === 'function', expected: 'a function' };
export const signal: Rule = {
  accepts: (value) => isObject(value) && 'aborted' in value && 'addEventListener' in value,
  expected: 'an AbortSignal',
};

export const samplingRules: Rules<NonNullable<TranslateOptions['sampling']>> = {
  temperature: { accepts: (value) => isNumber(value) && value > 0, expected: 'a number above 0' },
  topK: whole(0),
  topP: { accepts: (value) => isNumber(value) && value > 0 && value <= 1, expected: 'a number above 0, at most 1' },
  seed: whole(0, Number.MAX_SAFE_INTEGER),
};

const headRules: Rules<AttentionHead> = {
  attention: {
    accepts: (value) => attentionKinds.includes(value as AttentionHead['attention']),
    expected: "'encoder', 'decoder' or 'cross'",
  },
  layer: whole(0),
  head: whole(0),
};

const isListOf = (rule: Rule) => (value: unknown) => Array.isArray(value) && value.every(rule.accepts);

export const translateRules: Rules<TranslateOptions> = {
  beamSize: whole(1, 64),
  lengthPenalty: { accepts: (value) => isNumber(value) && value >= 0, expected: 'a number of at least 0' },
  nBest: whole(1),
  maxLength: whole(1),
  sampling: { accepts: isObject, expected: 'an object such as { temperature: 0.8, seed: 1 }' },
  prefix: {
    accepts: (value) => string.accepts(value) || isListOf(whole(0))(value),
    expected: 'a string or an array of token ids',
  },
  maskedSource: { accepts: isListOf(whole(0)), expected: 'an array of positions, counted from 0' },
  maskedHeads: {
    accepts: isListOf({ accepts: isObject, expected: '' }),
    expected: "an array of objects such as { attention: 'cross', layer: 0, head: 3 }",
  },
  attention: boolean,
  topTokens: whole(0),
  beamTrace: boolean,
  internals: boolean,
  onToken: callback,
  signal,
};

/** The given options without those that are undefined; throws for any that `rules` do not allow. */
export function checked<T extends object>(place: string, rules: Rules<T>, options: unknown, path = ''): T {
  if (!isObject(options)) throw new TypeError(`[${place}] options must be an object, not ${show(options)}`);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    const rule = Object.hasOwn(rules, name) ? rules[name as keyof T & string] : undefined;
    if (!rule) throw new TypeError(`[${place}] there is no option '${path}${name}'; ${hint(name, path, rules)}`);
    if (!rule.accepts(value)) {
      throw new TypeError(`[${place}] ${path}${name} must be ${rule.expected}, not ${show(value)}`);
    }
  }
  return Object.fromEntries(given) as T;
}

export type CheckedTranslate = Pick<TranslateOptions<string | string[]>, 'onToken' | 'signal'> & {
  texts: string[];
  search: SearchOptions;
};

export function checkTranslate(text: unknown, options: unknown): CheckedTranslate {
  const texts: unknown[] = Array.isArray(text) ? Array.from(text) : [text]; // without holes
  texts.forEach((item, i) => {
    const name = Array.isArray(text) ? `text ${i}` : 'the text';
    if (typeof item !== 'string') throw new TypeError(`[translate] ${name} must be a string, not ${show(item)}`);
  });
  const { onToken, signal, ...search } = checked<TranslateOptions>('translate', translateRules, options);
  if (search.sampling) {
    search.sampling = checked<typeof search.sampling>('translate', samplingRules, search.sampling, 'sampling.');
    if ((search.beamSize ?? 1) > 1) {
      throw new Error(`[translate] beamSize is ${search.beamSize}, but sampling draws one text; leave one of them out`);
    }
    if (search.beamTrace) throw new Error('[translate] beamTrace shows a search, but sampling is none');
  }
  search.maskedHeads?.forEach((head, i) => checkHead(head, `maskedHeads[${i}].`));
  return { texts: texts as string[], search, onToken: onToken as CheckedTranslate['onToken'], signal };
}

function checkHead(head: AttentionHead, path: string): void {
  const given = checked<AttentionHead>('translate', headRules, head, path);
  for (const name of Object.keys(headRules)) {
    if (!Object.hasOwn(given, name)) throw new TypeError(`[translate] ${path}${name} is missing`);
  }
}

export function show(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `'${value.slice(0, 60)}…'` : `'${value}'`;
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? 'a function' : String(value);
  return Array.isArray(value) ? 'an array' : `an object (${value.constructor?.name ?? 'without a prototype'})`;
}

function hint(name: string, path: string, rules: object): string {
  const known = Object.keys(rules);
  const plain = (word: string) => word.toLowerCase().replace(/[_-]/g, '');
  const distances = known.map((word) => distance(plain(name), plain(word)));
  const nearest = Math.min(...distances);
  return nearest <= 3 ? `did you mean '${path}${known[distances.indexOf(nearest)]}'?` : `there are ${known.join(', ')}`;
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
