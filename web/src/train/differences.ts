// How runs of one task differ: the settings that are not the defaults, which make the names of runs.
import { choicesOf, FIELDS, GOALS, isUsed, settingOf, type Key, type Values } from './fields';
import { settingPhrase, trainWords } from './words';

/** Stands between the parts of a name. */
export const BETWEEN = ' · ';

/** Settings that the data's name says; and how long it learns, which the run itself shows. */
const SAID: readonly Key[] = ['data', 'start', 'goal', ...GOALS];
function said(key: Key, value: string): string {
  const phrase = settingPhrase(key, settingOf(key, value));
  if (phrase) return phrase;
  const choices = choicesOf(key);
  const saysEnough = choices.length > 0 && !choices.includes('yes') && value !== 'none';
  if (saysEnough) return trainWords(`o_${value}` as 'o_char');
  const name = trainWords(`f_${key}` as 'f_seed');
  return trainWords('differs', { name, value: choices.length > 0 ? trainWords(`o_${value}` as 'o_yes') : value });
}

/** Names settings that were chosen and have an effect, in the order of the forms; `chosen` has no defaults. */
export function differencesOf(chosen: Partial<Values>, values: Values): string[] {
  const keys = (Object.keys(FIELDS) as Key[]).filter(
    (key) => chosen[key] !== undefined && isUsed(key, values) && !SAID.includes(key),
  );
  return keys.map((key) => said(key, chosen[key]!));
}

/** Name of the data alone, without the differences: for a file, and where there is little room. */
export const shortName = (name: string) => name.split(BETWEEN)[0]!;

/** Parts of each name that the others do not have, or its beginning where nothing is left. */
export function apart(names: readonly string[]): string[] {
  const parts = names.map((name) => name.split(BETWEEN));
  const isCommon = (part: string) => parts.every((other) => other.includes(part));
  return parts.map((own) => own.filter((part) => !isCommon(part)).join(BETWEEN) || own[0]!);
}
