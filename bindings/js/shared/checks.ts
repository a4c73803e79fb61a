// Checks of the options that are JavaScript's own: callbacks, signals, sources of models, threads. All others are
// declared in C++ (src/tasks/translate/translate_options.h, src/include/wasmformer/training.h), and checked there.
import { WasmformerTypeError } from './errors.js';
import type { AlignmentOptions } from './webpage-types.js';
import type { AnnotateOptions, TokenizeOptions, TranslateOptions } from './types.js';

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
// The least in which a small model can translate, and the most that 32 bits can address.
export const memory: Rule = {
  accepts: (value) => isNumber(value) && value >= 2 ** 25 && value <= 2 ** 32,
  expected: `a number of bytes from ${2 ** 25} (32 MiB) to ${2 ** 32} (4 GiB)`,
};
export const oneOf = (...words: string[]): Rule => ({
  accepts: (value) => words.includes(value as string),
  expected: words.map((word) => `'${word}'`).join(', ').replace(/, ([^,]*)$/, ' or $1'),
});
export const boolean: Rule = { accepts: (value) => typeof value === 'boolean', expected: 'true or false' };
export const string: Rule = { accepts: (value) => typeof value === 'string', expected: 'a string' };
export const callback: Rule = { accepts: (value) => typeof value === 'function', expected: 'a function' };
export const signal: Rule = {
  accepts: (value) => isObject(value) && 'aborted' in value && 'addEventListener' in value, expected: 'an AbortSignal',
};

/** The error of an option that does not exist; `advice`: what to use. */
export const unknownOption = (place: string, option: string, advice: string) =>
  new WasmformerTypeError('unknown-option', `unknown option '${option}'; ${advice}`, { room: place, details: { option } });

function optionValue(place: string, option: string, allowed: string, given: unknown): WasmformerTypeError {
  const value = show(given);
  return new WasmformerTypeError(
    'option-value', `${option} must be ${allowed}, not ${value}`, { room: place, details: { option, allowed, value } },
  );
}

/** @throws if the option `signal` is not an AbortSignal */
export function checkSignal(options: object): void {
  if ('signal' in options) checked('translate', { signal }, { signal: options.signal });
}

/** The given options without those that are undefined; throws for any that `rules` do not allow. */
export function checked<T extends object>(place: string, rules: Rules<T>, options: unknown, path = ''): T {
  if (!isObject(options)) throw new WasmformerTypeError(place, `options must be an object, not ${show(options)}`);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    const rule = Object.hasOwn(rules, name) ? rules[name as keyof T & string] : undefined;
    if (!rule) throw unknownOption(place, `${path}${name}`, hint(name, path, rules));
    if (!rule.accepts(value)) throw optionValue(place, `${path}${name}`, rule.expected, value);
  }
  return Object.fromEntries(given) as T;
}

/** The options, with the new name of each that has an old one. Throws if an option is given by both. */
export function withNewNames<T>(place: string, newNames: Readonly<Record<string, string>>, options: T): T {
  if (!isObject(options)) return options;
  const renamed = { ...options } as Record<string, unknown>;
  for (const [old, name] of Object.entries(newNames)) {
    const value = renamed[old];
    delete renamed[old];
    if (value === undefined) continue;
    if (renamed[name] !== undefined) throw new WasmformerTypeError(place, `${old} is the old name of ${name}; give only ${name}`);
    renamed[name] = value;
  }
  return renamed as T;
}

/** @throws unless the text is one string; `name` and `number`: what messages call it, and its place counted from 1 */
export function checkText(text: unknown, place = 'translate', name = 'the text', number = 1): asserts text is string {
  if (typeof text !== 'string') throw new WasmformerTypeError(place, `${name} must be a string, not ${show(text)}`, { details: { number } });
}

/** @throws if options have a callback for partial texts, which the method `place` does not report; `advice`: what does */
export function withoutPartial<T extends object>(place: string, options: T, advice = 'stream() gives the texts so far'): T {
  if (!isObject(options)) throw new WasmformerTypeError('translate', `options must be an object, not ${show(options)}`);
  checkSignal(options);
  const name = ['onPartial', 'onToken'].find((name) => (options as Record<string, unknown>)[name] !== undefined);
  if (!name) return options;
  throw new WasmformerTypeError(
    'unknown-option', `${place}() has no option '${name}'; ${advice}`, { room: 'translate', details: { option: name } },
  );
}

interface CheckedTexts {
  texts: string[];
  /** All other options, as JSON: the module checks them. */
  search: string;
}
type TranslateCall = Pick<TranslateOptions<string | string[]>, 'onPartial' | 'signal'>;

/** The option `html`, and all others, since the code that translates markup is in a file of its own. */
export function takeHtml(options: unknown): { html: boolean; rest: object } {
  if (!isObject(options) || !('html' in options)) return { html: false, rest: options as object };
  const { html, ...rest } = options;
  return { html: checked<{ html?: boolean }>('translate', { html: boolean }, { html }).html ?? false, rest };
}

const ofSentence = ['onPartial', 'onToken', 'prefix', 'maskedSource', 'maskedHeads', 'nBest', 'attention', 'topTokens', 'beamTrace', 'internals'];

/** @throws for options of translate() that apply to one sentence of one model only */
export function refuseOfSentence(place: string, subject: string, options: object): void {
  const refused = ofSentence.find((name) => (options as Record<string, unknown>)[name] !== undefined);
  if (refused) throw new WasmformerTypeError(place, `${refused} applies to one sentence only, and has no meaning for ${subject}`);
}

/** Names of options in Transformers.js, with those in translate() and in its `sampling`. */
export const otherNames = {
  num_beams: 'beamSize',
  num_return_sequences: 'nBest',
  max_new_tokens: 'maxLength',
  output_attentions: 'attention',
  callback_function: 'onPartial',
  do_sample: 'sampling',
} as const;
export const otherSamplingNames = { temperature: 'temperature', top_k: 'topK', top_p: 'topP', seed: 'seed' } as const;

/** `first`: how many texts come before these, for messages. */
export function checkTranslate(text: unknown, options: unknown, first = 0): CheckedTexts & TranslateCall {
  for (const [names, path] of [[otherNames, ''], [otherSamplingNames, 'sampling.']] as const) {
    const given = options as Record<string, unknown> | null;
    const found = Object.entries(names).find(([name]) => given?.[name] !== undefined);
    if (found) throw unknownOption('translate', found[0], `use '${path}${found[1]}' instead`);
  }
  const named = withNewNames('translate', { onToken: 'onPartial' }, options);
  return checkTexts<TranslateCall>('translate', text, { onPartial: callback, signal }, named, first);
}

/** The options that need the file alignment.ts, and all others. */
export function takeAligned(options: object): { aligned: AlignmentOptions; rest: object } {
  const { alignment, quality, ...rest } = Object(options) as AlignmentOptions;
  const given = isObject(options) ? { alignment, quality } : options;
  const aligned = checked<AlignmentOptions>('translate', { alignment: boolean, quality: boolean }, given);
  return { aligned, rest: aligned.alignment ? { ...rest, attention: true } : rest };
}

/** `keep` is checked where it is read. */
const tokenizeRules: Rules<TokenizeOptions> = { keep: { accepts: () => true, expected: '' }, signal };

export function checkTokenize(text: unknown, options: unknown): TokenizeOptions & { texts: string[] } {
  const { texts } = checkTexts<object>('tokenize', text, {} as Rules<object>, {});
  return { texts, ...checked<TokenizeOptions>('tokenize', tokenizeRules, options) };
}

export const checkAnnotate = (use: string, text: unknown, options: unknown): CheckedTexts & Pick<AnnotateOptions, 'signal'> =>
  checkTexts<Pick<AnnotateOptions, 'signal'>>(use, text, { signal }, options);

function checkTexts<Own extends object>(
  place: string, text: unknown, rules: Rules<Own>, options: unknown, first = 0,
): CheckedTexts & Own {
  const texts: unknown[] = Array.isArray(text) ? Array.from(text) : [text]; // without holes
  texts.forEach((item, i) => {
    const number = first + i + 1;
    checkText(item, place, Array.isArray(text) ? `text ${number}` : undefined, number);
  });
  const [own, search] = splitOptions<Own>(place, rules, options);
  return { texts: texts as string[], search, ...own };
}

/** The checked options that `rules` name, and JSON of all others, which the module checks. */
export function splitOptions<Own extends object>(place: string, rules: Rules<Own>, options: unknown): [Own, string] {
  const [own, others] = takeOptions<Own>(place, rules, options);
  return [own, toJson(others)];
}

/** The checked options that `rules` name, and all others. */
export function takeOptions<Own extends object>(place: string, rules: Rules<Own>, options: unknown): [Own, object] {
  if (!isObject(options)) throw new WasmformerTypeError(place, `options must be an object, not ${show(options)}`);
  const entries = Object.entries(options);
  const isOwn = ([name]: [string, unknown]) => Object.hasOwn(rules, name);
  const own = checked<Own>(place, rules, Object.fromEntries(entries.filter(isOwn)));
  return [own, Object.fromEntries(entries.filter((entry) => !isOwn(entry)))];
}

/** Texts cross as UTF-8. An unpaired surrogate is not Unicode; as in TextEncoder, U+FFFD replaces it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** JSON in which values that JSON cannot hold are strings, so that the module refuses it instead of ignoring it. */
export function toJson(options: object): string {
  const written = (_: string, value: unknown) => {
    if (typeof value === 'string') return wellFormed(value);
    if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
    return ['function', 'bigint', 'symbol'].includes(typeof value) ? show(value) : value;
  };
  try {
    return JSON.stringify(options, written);
  } catch (cause) {
    throw new WasmformerTypeError('options', `the options are no JSON: ${(cause as Error).message.split('\n')[0]}`, { cause });
  }
}

/** Whether a value is of a built-in class, also of another realm: Jest gives each test classes of its own. */
export const isTagged = <T>(value: unknown, tag: string): value is T =>
  Object.prototype.toString.call(value) === `[object ${tag}]`;

export function show(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `'${value.slice(0, 60)}…'` : `'${value}'`;
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? 'a function' : String(value);
  return Array.isArray(value) ? 'an array' : `an object (${value.constructor?.name ?? 'without a prototype'})`;
}

/** Hint for an unknown name: the one that was probably meant, or else all names. */
function hint(name: string, path: string, rules: object): string {
  const known = Object.keys(rules);
  const distances = known.map((word) => ({ word, distance: differingLetters(name, word) }));
  const [nearest] = distances.sort((a, b) => a.distance - b.distance);
  return nearest && nearest.distance <= 3 ? `did you mean '${path}${nearest.word}'?` : `there are ${known.join(', ')}`;
}

/** Number of letters of two words that have no counterpart in the other one, in whatever order. */
export function differingLetters(a: string, b: string): number {
  const letters = (word: string) => [...word.toLowerCase().replace(/[_-]/g, '')];
  const rest = letters(b);
  let missing = 0;
  for (const letter of letters(a)) {
    const i = rest.indexOf(letter);
    if (i < 0) missing++;
    else rest.splice(i, 1);
  }
  return Math.max(missing, rest.length);
}
