// An ablation is data: models that differ in named settings, trained on the same pairs, and what is claimed about them.
// Its text is what a link, or a file, holds.
import type { TaskName } from 'wasmformer';
import { options } from 'wasmformer/options';
import known from './ablations.json';
import { defaultsOf, isTask } from '../train/fields';

export type Value = string | number | boolean;
export type Settings = Readonly<Record<string, Value>>;

export const METRICS = ['exactMatch', 'bleu', 'chrf', 'loss'] as const;
export type Metric = (typeof METRICS)[number];

export interface Arm {
  id: string;
  /** Settings that differ from the base. */
  set: Settings;
}

export interface Claim {
  best: string;
  worse: string;
  metric: Metric;
  /** In how many of COUNTED runs with different seeds it came out so (`npm run bench -- --ablations`). */
  holds?: number;
}

/** Runs by which the page's own claims are counted. */
export const COUNTED = 20;
/** A claim that holds in fewer of them is said to hold often. */
export const ALWAYS = 19;

export interface Ablation {
  id: string;
  task: TaskName;
  /** Training pairs; by default as many as the task needs. */
  pairs?: number;
  /** Training sources have at most so many characters, and those of validation more. */
  longest?: number;
  steps: number;
  /** Settings that differ from the preset 'toy' in every arm. */
  base: Settings;
  arms: readonly Arm[];
  /** Arms that the paper or experience says are better and worse, and the score that shows it. */
  claim?: Claim;
  /** Further claims. */
  also?: readonly Claim[];
  /** Section or row of the paper. */
  paper?: string;
}

/** Why a text is no ablation. */
export interface Wrong {
  why: 'notJson' | 'task' | 'pairs' | 'longest' | 'steps' | 'arms' | 'names' | 'setting' | 'value' | 'claim';
  name: string;
}

/** In the address in place of an ablation. */
export const TABLE_3 = 'table-3';

export const FEWEST_ARMS = 2;
/** As many as there are colors of heads. */
export const MOST_ARMS = 8;
const STEPS = [10, 5000];
const LONGEST = 100; // characters

export const metricOf = ({ claim }: Ablation): Metric => claim?.metric ?? 'exactMatch';

export const isLowerBetter = (metric: Metric) => metric === 'loss';

/** A setting of models or training as the package describes it. */
export const describedAs = (name: string) => options.config.find((option) => option.name === name);

/** Whether a setting takes a value. */
export function fits(name: string, value: unknown): boolean {
  const { type, choices, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = describedAs(name)!;
  if (choices) return choices.includes(value as string);
  if (type === 'boolean') return typeof value === 'boolean';
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  const isWhole = type !== 'integer' || Number.isInteger(value);
  const isAbove = value >= (minimum ?? -Infinity) && value > (exclusiveMinimum ?? -Infinity);
  const isBelow = value <= (maximum ?? Infinity) && value < (exclusiveMaximum ?? Infinity);
  return isWhole && isAbove && isBelow;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function wrongSetting(set: unknown): Wrong | undefined {
  if (!isObject(set)) return { why: 'arms', name: '' };
  for (const [name, value] of Object.entries(set)) {
    if (!describedAs(name)) return { why: 'setting', name };
    if (!fits(name, value)) return { why: 'value', name };
  }
  return undefined;
}

const isCount = (value: unknown, least: number, most: number) =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most;

function wrongArms(arms: unknown): Wrong | undefined {
  if (!Array.isArray(arms) || !isCount(arms.length, FEWEST_ARMS, MOST_ARMS)) return { why: 'arms', name: '' };
  const ids = arms.map((arm: unknown) => (isObject(arm) && typeof arm.id === 'string' ? arm.id : ''));
  if (ids.includes('') || new Set(ids).size < ids.length) return { why: 'names', name: '' };
  return arms.map(({ set }: Arm) => wrongSetting(set)).find((wrong) => wrong !== undefined);
}

function wrongClaims(claims: readonly unknown[], arms: readonly Arm[]): Wrong | undefined {
  const isNamed = (id: unknown) => arms.some((arm) => arm.id === id);
  const isRight = (claim: unknown) => isObject(claim) && isNamed(claim.best) && isNamed(claim.worse)
    && (METRICS as readonly unknown[]).includes(claim.metric);
  return claims.every((claim) => claim === undefined || isRight(claim)) ? undefined : { why: 'claim', name: '' };
}

/** The first thing that is wrong with a value that should be an ablation. */
function wrongIn(value: Record<string, unknown>): Wrong | undefined {
  const { task, pairs, longest, steps, base, arms, claim, also = [] } = value;
  if (typeof task !== 'string' || !isTask(task)) return { why: 'task', name: String(task) };
  const { maxPairs } = options.tasks.find(({ name }) => name === task)!;
  if (pairs !== undefined && !isCount(pairs, 1, maxPairs)) return { why: 'pairs', name: String(pairs) };
  if (longest !== undefined && !isCount(longest, 1, LONGEST)) return { why: 'longest', name: String(longest) };
  if (!isCount(steps, STEPS[0], STEPS[1])) return { why: 'steps', name: String(steps) };
  return wrongSetting(base ?? {}) ?? wrongArms(arms) ?? wrongClaims([claim, ...[also].flat()], arms as Arm[]);
}

/** Reads an ablation from JSON that anybody may have written. */
export function parse(text: string): Ablation | Wrong {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { why: 'notJson', name: '' };
  }
  if (!isObject(value)) return { why: 'notJson', name: '' };
  const wrong = wrongIn(value);
  if (wrong) return wrong;
  const { task, pairs, longest, steps, arms, claim, also } = value as unknown as Ablation;
  return {
    id: typeof value.id === 'string' ? value.id : '',
    task,
    ...(pairs !== undefined && { pairs }),
    ...(longest !== undefined && { longest }),
    steps,
    base: (value.base ?? {}) as Settings,
    arms: arms.map(({ id, set }) => ({ id, set })),
    ...(claim && { claim: claimIn(claim) }),
    ...(also?.length && { also: also.map(claimIn) }),
    ...(typeof value.paper === 'string' && { paper: value.paper }),
  };
}

const claimIn = ({ best, worse, metric }: Claim): Claim => ({ best, worse, metric });

/** The ablations of the page: those whose settings the package has. */
export const ABLATIONS = (known as unknown as readonly Ablation[]).filter((one) => !('why' in parse(toText(one))));

export function toText(ablation: Ablation): string {
  return JSON.stringify(ablation);
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The ablation of the page that this one is, or is with more arms; its words are those of that one. */
export function originOf(ablation: Ablation): Ablation | undefined {
  const holds = (other: Ablation) => other.arms.every((arm) => ablation.arms.some((mine) => isSame(mine, arm)));
  const isOf = (other: Ablation) => other.id === ablation.id && other.task === ablation.task
    && other.pairs === ablation.pairs && other.longest === ablation.longest && other.steps === ablation.steps
    && isSame(other.base, ablation.base)
    && holds(other);
  return ABLATIONS.find(isOf);
}

/** For the address: the name of an ablation of the page, or all of one that the visitor made. */
export function toLink(ablation: Ablation): string {
  const origin = originOf(ablation);
  return origin && origin.arms.length === ablation.arms.length ? origin.id : toText(ablation);
}

/** Reads an ablation from the address; where there is no such ablation, `name` of the error is the address's text. */
export function fromLink(text: string): Ablation | Wrong {
  if (text.startsWith('{')) return parse(text);
  return ABLATIONS.find(({ id }) => id === text) ?? { why: 'notJson', name: text };
}

/** With one more arm: a copy of another with one setting changed. The same again if there is such an arm already. */
export function withArm(ablation: Ablation, of: Arm, name: string, value: Value): Ablation {
  const set = { ...of.set, [name]: value };
  const preset = defaultsOf({ data: ablation.task }, 0);
  const inAll = (arm: Settings) => isSame(wholeOf(preset, ablation, arm), wholeOf(preset, ablation, set));
  if (ablation.arms.some((arm) => inAll(arm.set))) return ablation;
  const id = `${of.id}+${name}=${value}`;
  return { ...ablation, arms: [...ablation.arms, { id, set }] };
}

/** All settings of an arm as text, those that it leaves alone too. */
const wholeOf = (preset: Settings, { base }: Ablation, set: Settings) =>
  Object.entries({ ...preset, ...base, ...set }).map(([name, value]) => `${name}=${value}`).sort();

export const claimsOf = ({ claim, also = [] }: Ablation): readonly Claim[] => (claim ? [claim, ...also] : also);

/** Without an arm; the same if too few would be left, or a claim names it. */
export function withoutArm(ablation: Ablation, id: string): Ablation {
  const { arms } = ablation;
  const isClaimed = claimsOf(ablation).some(({ best, worse }) => best === id || worse === id);
  if (arms.length <= FEWEST_ARMS || isClaimed) return ablation;
  return { ...ablation, arms: arms.filter((arm) => arm.id !== id) };
}
