// Names of arms and of runs: what differs, in words.
import type { Ablation, Arm, Value } from './ablation';
import { number } from '../shared/words/speech.svelte';
import { MODEL, TRAINING } from '../train/fields';
import { settingPhrase, trainWords } from '../train/words';
import { labTable, labWords } from './words';

type Word = Parameters<typeof labWords>[0];
const has = (key: string): key is Word => key in labTable();

const NAMED: readonly string[] = [...MODEL, ...TRAINING];

/** The name of a setting; one that the page has no word for keeps that of the package. */
export const fieldName = (name: string) => (NAMED.includes(name) ? trainWords(`f_${name as 'dropout'}`) : name);

const YES_OR_NO = ['no', 'yes'] as const;

/** A value of a setting, as in a list of choices. */
function valueName(name: string, value: Value): string {
  if (typeof value === 'number') return number(value, { maximumSignificantDigits: 4 });
  if (typeof value === 'boolean') return trainWords(`o_${YES_OR_NO[Number(value)]}`);
  return NAMED.includes(name) ? trainWords(`o_${value as 'char'}`) : value;
}

/** 'no positions', '8 heads', 'Dropout: 0.3' */
export function settingName(name: string, value: Value): string {
  const whole = `is_${name}_${value}`;
  if (has(whole)) return labWords(whole);
  const phrase = settingPhrase(name, value);
  if (phrase) return phrase;
  const counted = `of_${name}`;
  if (has(counted)) return labWords(counted, { value: valueName(name, value) });
  return labWords('setting', { name: fieldName(name), value: valueName(name, value) });
}

const SEPARATOR = ' · ';

/** An arm by what it sets. */
export function armName({ set }: Arm): string {
  const parts = Object.entries(set).map(([name, value]) => settingName(name, value));
  return parts.length === 0 ? labWords('unchanged') : parts.join(SEPARATOR);
}

/** A run of an arm: 'Dates · no positions' */
export const runName = ({ task }: Ablation, arm: Arm) => `${trainWords(`data_${task}`)}${SEPARATOR}${armName(arm)}`;

/** Color of an arm, in every figure. */
export const colorOf = ({ arms }: Ablation, id: string) =>
  `var(--head-${arms.findIndex((arm) => arm.id === id) + 1})`;
