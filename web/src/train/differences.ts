// How runs of one task differ: the settings that are not the defaults, which make the names of runs.
import { choicesOf, FIELDS, isUsed, type Key, type Values } from './fields';
import { trainWords } from './words';

/** Stands between the parts of a name. */
export const BETWEEN = ' · ';

/** Settings that the data's name or another part says. */
const SAID: readonly Key[] = ['data', 'start', 'steps', 'epochs', 'minutes', 'budget'];
/** Values that have words of their own. */
const SHORT = { 'norm:post': 'd_post', 'norm:pre': 'd_pre', 'warmup_steps:0': 'd_noWarmup' } as const;

function said(key: Key, value: string, values: Values): string {
  const short = SHORT[`${key}:${value}` as keyof typeof SHORT];
  if (short) return trainWords(short);
  if (key === 'goal') return said(value as Key, values[value as Key], values);
  const choices = choicesOf(key);
  if (choices.length > 0 && !choices.includes('yes')) return trainWords(`o_${value}` as 'o_char');
  const name = trainWords(`f_${key}` as 'f_seed');
  return trainWords('differs', { name, value: choices.length > 0 ? trainWords(`o_${value}` as 'o_yes') : value });
}

/** What was chosen and has an effect, in the order of the forms; `chosen` has no defaults. */
export function differencesOf(chosen: Partial<Values>, values: Values): string[] {
  const isGoal = (key: Key) => key === values.goal && !('goal' in chosen);
  const keys = (Object.keys(FIELDS) as Key[]).filter(
    (key) => chosen[key] !== undefined && isUsed(key, values) && (!SAID.includes(key) || isGoal(key)),
  );
  return keys.map((key) => said(key, chosen[key]!, values));
}

/** Of each name what the others do not have, or its beginning where nothing is left. */
export function apart(names: readonly string[]): string[] {
  const parts = names.map((name) => name.split(BETWEEN));
  const isCommon = (part: string) => parts.every((other) => other.includes(part));
  return parts.map((own) => own.filter((part) => !isCommon(part)).join(BETWEEN) || own[0]!);
}
