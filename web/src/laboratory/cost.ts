// How long an ablation will take on this computer, from how fast it has trained before.
import { costOf, parametersOf, CHARACTERS } from '../train/cost';
import { defaultsOf, type Values } from '../train/fields';
import type { Ablation, Arm } from './ablation';
import { SEEDS } from './trials';

/** Cost of one trial of an arm, in parameters times tokens. */
function workOf({ task, steps, base }: Ablation, { set }: Arm): number {
  const changed = Object.entries({ ...base, ...set }).map(([name, value]) => [name, String(value)]);
  const values: Values = { ...defaultsOf({ data: task }, 0), ...Object.fromEntries(changed) };
  return costOf(parametersOf(values, CHARACTERS), Number(values.batch_tokens), steps);
}

/** Seconds of the first seed and of all, with so many workers; null where the speed is not known. */
export function secondsOf(
  ablation: Ablation,
  seconds: (work: number) => number | null,
  workers: number,
): { first: number; all: number } | null {
  const each = ablation.arms.map((arm) => seconds(workOf(ablation, arm)));
  if (each.includes(null)) return null;
  const sum = (each as number[]).reduce((total, one) => total + one, 0);
  const longest = Math.max(...(each as number[]));
  return { first: Math.max(longest, sum / workers), all: Math.max(longest, (SEEDS.length * sum) / workers) };
}
