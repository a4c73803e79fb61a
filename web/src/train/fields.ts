// Everything that can be chosen before the start, as text: its defaults, its limits, and how a link says it. What the
// package checks itself, it describes: presets, tasks, and the settings of models and training.
import type { TaskName } from 'wasmformer';
import { options } from 'wasmformer/options';
import { comesToZero } from './schedules';

export const TASKS = [
  'reverse',
  'dates',
  'add',
  'copy',
  'sort',
  'roman',
  'pig-latin',
  'chinese-dates',
  'chinese-numbers',
] as const satisfies readonly TaskName[];
/** Pairs that come with the page: source and target. */
export const SHIPPED = ['de-en', 'en-de', 'fr-en', 'en-fr', 'zh-en', 'en-zh'] as const;
export const DATA = [...TASKS, ...SHIPPED, 'own'] as const;
export type DataName = (typeof DATA)[number];

export const isTask = (data: string): data is TaskName => (TASKS as readonly string[]).includes(data);
export const isShipped = (data: string): data is (typeof SHIPPED)[number] =>
  (SHIPPED as readonly string[]).includes(data);
/** How long such pairs are learned, unless that is chosen. */
export const SHIPPED_MINUTES = 2;
/** How many pairs of its file are there to train on; the rest validates. */
export const shippedCount = (data: string) => (data.includes('de') ? 30_000 : 10_000);

const whole = (min: number, max: number) => ({ min, max, whole: true });
const choice = <T extends string>(...options: T[]) => ({ options });

/** Each is also the name of the field that says how far. */
export const GOALS = ['budget', 'steps', 'epochs', 'minutes'] as const;

const OWN = {
  data: choice(...DATA),
  start: choice('scratch', 'model'),
  pairs: whole(10, 200_000),
  validation: whole(1, 10_000),
  lowercase: choice('no', 'yes'),
  longest: whole(1, 5000),
  tokenizer: choice('char', 'word', 'bpe', 'unigram'),
  vocab: whole(8, 64_000),
  joint: choice('yes', 'no'),
  preset: choice('toy', 'tiny', 'multi30k-tiny', 'small'), // those that a tab has the memory to train
  goal: choice(...GOALS),
  budget: { min: 0.5, max: 10_000 }, // minutes
  steps: whole(1, 1e6),
  epochs: whole(1, 10_000),
  minutes: { min: 0.1, max: 10_000 },
  seed: whole(0, 1e9),
};

/** These go to the package under the same names; the rate is shown as its peak. */
export const MODEL = [
  'd_model',
  'encoder_layers',
  'decoder_layers',
  'num_heads',
  'key_dim',
  'ffn_dim',
  'max_length',
  'norm',
  'residual',
  'positions',
  'attention',
  'causal',
  'activation',
  'tie_embeddings',
] as const;
export const TRAINING = [
  'dropout',
  'label_smoothing',
  'optimizer',
  'schedule',
  'learning_rate',
  'muon_rate',
  'muon_momentum',
  'warmup_steps',
  'decay_steps',
  'weight_decay',
  'clip_norm',
  'batch_tokens',
  'output_sample',
  'unigram_bias',
] as const;
const SETTINGS = [...MODEL, ...TRAINING];
type Setting = (typeof SETTINGS)[number];

export type Key = keyof typeof OWN | Setting;
export type Values = Record<Key, string>;

interface Limits {
  min?: number;
  max?: number;
  above?: number;
  below?: number;
  whole?: boolean;
}

const YES_OR_NO = ['no', 'yes'];

function described(name: Setting): { options: string[] } | Limits {
  const {
    choices,
    type,
    minimum: min,
    maximum: max,
    exclusiveMinimum: above,
    exclusiveMaximum: below,
  } = options.config.find((option) => option.name === name)!;
  if (choices || type === 'boolean') return { options: choices ?? YES_OR_NO };
  return { min, max, above, below, whole: type === 'integer' };
}

const settings = Object.fromEntries(SETTINGS.map((name) => [name, described(name)])) as Record<Setting, Limits>;
export const FIELDS: Record<Key, { options: string[] } | Limits> = { ...OWN, ...settings };

export const choicesOf = (key: Key): readonly string[] => {
  const field = FIELDS[key];
  return 'options' in field ? field.options : [];
};

type PresetValues = Record<Setting, string | number>;

const asText = (value: string | number | boolean) => (typeof value === 'boolean' ? YES_OR_NO[Number(value)]! : value);

/** The values of a preset, with the peak of its rate in place of Noam's factor. */
export function presetOf(name: string): PresetValues {
  const { config, peak } = options.presets.find((preset) => preset.name === name) ?? options.presets[0];
  const values = Object.entries(config as Record<string, string | number | boolean>);
  const texts = Object.fromEntries(values.map(([key, value]) => [key, asText(value)]));
  return { ...(texts as PresetValues), learning_rate: peak };
}

/** The value of a setting as the package takes it. */
export function settingOf(key: Key, text: string): string | number | boolean {
  if (choicesOf(key) === YES_OR_NO) return text === 'yes';
  return Number.isNaN(Number(text)) ? text : Number(text);
}

export const taskOf = (name: TaskName) => options.tasks.find((task) => task.name === name)!;
/** 'wasm → msaw' */
export const exampleOf = (name: TaskName) => `${taskOf(name).source} → ${taskOf(name).target}`;

type Beginning = Record<string, string | number>;

/** Settings that a model has already when it continues to learn, and that a budget chooses. */
const OF_MODEL: readonly string[] = ['tokenizer', 'vocab', 'joint', 'preset', ...MODEL];
const OF_BUDGET: readonly string[] = [...OF_MODEL, ...TRAINING];

/** A budget, unless there is another goal, its number, or something that a budget would choose. */
function byTime(chosen: Partial<Values>, budget: number): Beginning {
  const isGiven = ['goal', ...OF_BUDGET, ...GOALS.slice(1)].some((key) => key in chosen);
  return { budget, ...(!isGiven && { goal: 'budget' }) };
}

/** Default settings for each kind of data, tuned so that one click teaches it. */
function beginningOf(chosen: Partial<Values>, ownPairs: number): Beginning {
  const { data = 'reverse' } = chosen;
  if (isTask(data)) return taskBeginning(data, chosen);
  if (chosen.start === 'model') return tunedBeginning(ownPairs || 100);
  if (isShipped(data)) return shippedBeginning(chosen);
  return ownBeginning(chosen, ownPairs || 10_000);
}

function taskBeginning(data: TaskName, chosen: Partial<Values>): Beginning {
  const { pairs, steps } = taskOf(data);
  return { preset: 'toy', tokenizer: 'char', pairs, epochs: 6, ...untilSteps(chosen, steps) };
}

/** Small steps, and few of them: the model has learned the language already. */
function tunedBeginning(pairs: number): Beginning {
  const epochs = Math.max(3, Math.min(40, Math.round(4000 / pairs)));
  return {
    preset: 'small',
    tokenizer: 'bpe',
    epochs,
    schedule: 'constant',
    learning_rate: 1e-4,
    warmup_steps: 10,
    clip_norm: 1,
    batch_tokens: 1024,
  };
}

/** Without the budget, about five minutes with two threads. */
function shippedBeginning(chosen: Partial<Values>): Beginning {
  return {
    preset: 'multi30k-tiny',
    tokenizer: 'bpe',
    norm: 'pre',
    encoder_layers: 2,
    decoder_layers: 2,
    ffn_dim: 512,
    dropout: 0.05,
    clip_norm: 1,
    learning_rate: 3e-3,
    warmup_steps: 150,
    batch_tokens: 1024,
    epochs: 7,
    ...untilSteps(chosen, 2000),
    ...byTime(chosen, SHIPPED_MINUTES),
  };
}

/** Few pairs give few pieces, and need more passes. */
function ownBeginning(chosen: Partial<Values>, pairs: number): Beginning {
  const tokenizer = pairs < 3000 ? 'char' : 'bpe';
  const epochs = Math.min(200, Math.max(3, Math.round(240_000 / pairs)));
  return {
    norm: 'pre',
    clip_norm: 1,
    preset: 'multi30k-tiny',
    tokenizer,
    epochs,
    learning_rate: 2e-3,
    warmup_steps: 300,
    batch_tokens: 1024,
    ...byTime(chosen, 5),
  };
}

/** The rate's cosine must know where it ends. */
function untilSteps(chosen: Partial<Values>, steps: number): Beginning {
  const goal = chosen.goal ?? (chosen.epochs ? 'epochs' : 'steps');
  return { goal, steps, schedule: goal === 'steps' ? 'cosine' : 'noam' };
}

/** Four digits are enough for display, and for a rate. */
export const short = (value: string | number) =>
  String(typeof value === 'number' ? Number(value.toPrecision(4)) : value);

/** The defaults, which depend on the data and the preset. */
export function defaultsOf(chosen: Partial<Values>, ownPairs: number): Values {
  const data = chosen.data ?? 'reverse';
  const start = beginningOf(chosen, ownPairs);
  const size = String(chosen.preset ?? start.preset);
  const own = Math.max(1, Math.min(500, Math.round(ownPairs / 20)));
  const isOtherPreset = chosen.preset !== undefined && chosen.preset !== start.preset;
  const all: Beginning = {
    data,
    start: 'scratch',
    pairs: 6000,
    validation: own,
    lowercase: 'no',
    longest: 500,
    vocab: 2000,
    joint: 'yes',
    goal: 'epochs',
    steps: 3000,
    minutes: 15,
    budget: 5,
    seed: 1,
    ...presetOf(size),
    ...(chosen.joint === 'no' ? { tie_embeddings: 'target' } : {}),
    ...start,
    ...(isOtherPreset && presetOf(size)),
    preset: size,
  };
  const at = (key: Key) => chosen[key] ?? all[key];
  if (at('goal') === 'steps') all.decay_steps = Math.max(Number(at('steps')), Number(at('warmup_steps')) + 1) || 1000;
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, short(value)])) as Values;
}

/** A task's characters are what its attention shows; pieces would hide them. */
export const tokenizersOf = (data: string): readonly string[] => OWN.tokenizer.options.slice(0, isTask(data) ? 2 : 4);

export type Wrong = readonly [
  | 'choice'
  | 'number'
  | 'whole'
  | 'range'
  | 'least'
  | 'more'
  | 'heads'
  | 'even'
  | 'evenHead'
  | 'rotary'
  | 'oneVocabulary'
  | 'decay'
  | 'most',
  Record<string, string | number>?,
];

/** The number of validation pairs: '200', or '5%' of `pairs`. */
export function validationOf(value: string, pairs: number): number {
  const share = /^\s*([\d.]+)\s*%\s*$/.exec(value);
  return share ? Math.max(1, Math.round((pairs * Number(share[1])) / 100)) : Number(value);
}

function outside({ min, max, above, below }: Limits, value: number): Wrong | undefined {
  const isWithin = value >= (min ?? -Infinity) && value <= (max ?? Infinity);
  if (isWithin && value > (above ?? -Infinity) && value < (below ?? Infinity)) return undefined;
  const most = max ?? below;
  if (most !== undefined) return ['range', { min: min ?? above ?? 0, max: most }];
  return min === undefined ? ['more', { min: above ?? 0 }] : ['least', { min }];
}

/** Finds the error in the value of one field by itself. */
function wrongOf(key: Key, text: string, pairs: number): Wrong | undefined {
  const field = FIELDS[key];
  if ('options' in field) return field.options.includes(text) ? undefined : ['choice'];
  const value = key === 'validation' ? validationOf(text, pairs) : Number(text);
  if (text.trim() === '' || Number.isNaN(value)) return ['number'];
  if (field.whole && !Number.isInteger(value)) return ['whole'];
  return outside(field, value);
}

/** Finds values that conflict with each other, by the field that is to be changed. */
function conflicts(values: Values, pairs: number | undefined): [Key, Wrong][] {
  const at = (key: Key) => Number(values[key]);
  const most = isTask(values.data) ? taskOf(values.data).maxPairs : Infinity;
  const inPairs = /^(sinusoidal|rotary)/; // positions that need an even number of features
  const isRotary = values.positions === 'rotary';
  const head = at('key_dim') || at('d_model') / at('num_heads');
  const isAllValidation =
    values.data === 'own' && pairs !== undefined && validationOf(values.validation, pairs) >= pairs;
  const rules: [boolean, Key, Wrong][] = [
    [!tokenizersOf(values.data).includes(values.tokenizer), 'tokenizer', ['choice']],
    [at('d_model') % at('num_heads') !== 0, 'num_heads', ['heads', { width: values.d_model }]],
    [inPairs.test(values.positions) && at('d_model') % 2 !== 0, 'd_model', ['even']],
    [isRotary && head % 2 !== 0, at('key_dim') > 0 ? 'key_dim' : 'num_heads', ['evenHead', { width: head }]],
    [isRotary && !values.attention.endsWith('dot'), 'attention', ['rotary']],
    [values.joint === 'no' && values.tie_embeddings === 'all', 'tie_embeddings', ['oneVocabulary']],
    [comesToZero(values.schedule) && at('decay_steps') <= at('warmup_steps'), 'decay_steps', ['decay']],
    [at('pairs') > most, 'pairs', ['most', { count: most }]],
    [isAllValidation, 'validation', ['most', { count: (pairs ?? 0) - 1 }]],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, key, wrong]) => [key, wrong]);
}

/** Finds the error in each value. `pairs`: the number of pairs in the data, if it is known. */
export function wrongs(values: Values, pairs: number | undefined): Partial<Record<Key, Wrong>> {
  const found: Partial<Record<Key, Wrong>> = {};
  for (const key of Object.keys(FIELDS) as Key[]) {
    const wrong = wrongOf(key, values[key], pairs ?? 1000);
    if (wrong) found[key] = wrong;
  }
  for (const [key, wrong] of conflicts(values, pairs)) found[key] ??= wrong;
  return found;
}

/** A model in use continues learning: it keeps its architecture and its tokenizer. */
export const isTuned = ({ data, start }: Values) => data === 'own' && start === 'model';

/** Returns whether a field has any effect, given the other values. */
export function isUsed(key: Key, values: Values): boolean {
  if (isTuned(values) && OF_MODEL.includes(key)) return false;
  if (values.goal === 'budget' && OF_BUDGET.includes(key)) return false;
  switch (key) {
    case 'start':
      return values.data === 'own';
    case 'pairs':
      return isTask(values.data);
    case 'validation':
      return values.data === 'own'; // the others bring theirs
    case 'lowercase':
    case 'longest':
      return !isTask(values.data);
    case 'vocab':
      return values.tokenizer !== 'char';
    case 'budget':
    case 'steps':
    case 'epochs':
    case 'minutes':
      return values.goal === key;
    case 'decay_steps':
      return comesToZero(values.schedule);
    case 'weight_decay':
      return values.optimizer !== 'adam';
    case 'muon_rate':
    case 'muon_momentum':
      return values.optimizer === 'muon';
    case 'unigram_bias':
      return !isTuned(values); // a model has biases of its own
    default:
      return true;
  }
}

/** 'data:reverse,seed:3': only what was chosen. */
export const write = (chosen: Partial<Values>) =>
  Object.entries(chosen)
    .map((entry) => entry.join(':'))
    .join(',');

export function parse(text: string): Partial<Values> {
  const entries = text.split(',').map((entry) => entry.split(/:(.*)/s));
  const isKnown = ([key, value]: string[]) =>
    Object.hasOwn(FIELDS, key)
    && value !== undefined
    && (key !== 'data' || OWN.data.options.includes(value as DataName));
  return Object.fromEntries(entries.filter(isKnown));
}
