// Everything that can be chosen before the start, as text: its defaults, its limits, and how a link says it.
import type { TaskName } from 'wasmformer';

export const TASKS = ['reverse', 'dates', 'add', 'copy', 'sort', 'roman', 'pig-latin'] as const satisfies readonly TaskName[];
/** Pairs that come with the page: source and target. */
export const SHIPPED = ['de-en', 'en-de', 'fr-en', 'en-fr', 'zh-en', 'en-zh'] as const;
export const DATA = [...TASKS, ...SHIPPED, 'own'] as const;
export type DataName = (typeof DATA)[number];

export const isTask = (data: string): data is TaskName => (TASKS as readonly string[]).includes(data);
export const isShipped =
  (data: string): data is (typeof SHIPPED)[number] => (SHIPPED as readonly string[]).includes(data);
/** How many pairs of each file are there to train on; the rest validates. */
export const SHIPPED_PAIRS = 10_000;

const whole = (min: number, max: number) => ({ min, max, whole: true });
const real = (min: number, max: number) => ({ min, max, whole: false });
const choice = <T extends string>(...options: T[]) => ({ options });

export const FIELDS = {
  data: choice(...DATA),
  pairs: whole(10, 200_000),
  validation: whole(1, 10_000),
  lowercase: choice('no', 'yes'),
  longest: whole(1, 5000),
  tokenizer: choice('char', 'word', 'bpe', 'unigram'),
  vocab: whole(8, 64_000),
  joint: choice('yes', 'no'),
  preset: choice('toy', 'tiny', 'multi30k-tiny', 'small'),
  goal: choice('steps', 'epochs', 'minutes'),
  steps: whole(1, 1e6),
  epochs: whole(1, 10_000),
  minutes: real(0.1, 10_000),
  seed: whole(1, 1e9),
  d_model: whole(2, 2048),
  encoder_layers: whole(1, 24),
  decoder_layers: whole(1, 24),
  num_heads: whole(1, 64),
  ffn_dim: whole(1, 16_384),
  max_length: whole(4, 2048),
  norm: choice('post', 'pre'),
  positions: choice('sinusoidal', 'learned'),
  attention: choice('scaled_dot', 'dot', 'additive', 'bilinear'),
  activation: choice('relu', 'gelu', 'swish'),
  tie_embeddings: choice('all', 'target', 'none'),
  dropout: real(0, 0.9),
  label_smoothing: real(0, 0.9),
  optimizer: choice('adam', 'adamw', 'sgd'),
  schedule: choice('noam', 'inverse_sqrt', 'cosine', 'constant'),
  learning_rate: real(1e-7, 100),
  warmup_steps: whole(1, 1e6),
  decay_steps: whole(2, 1e7),
  weight_decay: real(0, 0.9),
  clip_norm: real(0, 1000),
  batch_tokens: whole(16, 100_000),
} satisfies Record<string, { options: string[] } | { min: number; max: number; whole: boolean }>;

export type Key = keyof typeof FIELDS;
export type Values = Record<Key, string>;

/** These go to the package under the same names; the rate is shown as its peak. */
export const MODEL = ['d_model', 'encoder_layers', 'decoder_layers', 'num_heads', 'ffn_dim', 'max_length', 'norm', 'positions', 'attention', 'activation', 'tie_embeddings'] as const satisfies readonly Key[];
export const TRAINING = ['dropout', 'label_smoothing', 'optimizer', 'schedule', 'learning_rate', 'warmup_steps', 'decay_steps', 'weight_decay', 'clip_norm', 'batch_tokens'] as const satisfies readonly Key[];

const common = {
  max_length: 512, norm: 'post', positions: 'sinusoidal', attention: 'scaled_dot', activation: 'relu', tie_embeddings: 'all',
  label_smoothing: 0.1, optimizer: 'adam', schedule: 'noam', decay_steps: 20_000, weight_decay: 0, clip_norm: 0,
};

function preset(d_model: number, layers: number, num_heads: number, ffn_dim: number, dropout: number, peak: number,
  warmup_steps: number, batch_tokens: number) {
  return { ...common, d_model, encoder_layers: layers, decoder_layers: layers, num_heads, ffn_dim, dropout,
    learning_rate: peak, warmup_steps, batch_tokens };
}

/** Those of src/model/config.cpp that a tab has the memory to train. */
export const PRESETS = {
  toy: {
    ...preset(64, 2, 4, 256, 0, 3e-3, 100, 1024), norm: 'pre', schedule: 'cosine', decay_steps: 500, label_smoothing: 0, clip_norm: 1,
  },
  tiny: preset(64, 2, 4, 256, 0.1, 3e-3, 300, 1024),
  small: preset(256, 3, 4, 1024, 0.1, 1.5e-3, 2000, 4096),
  'multi30k-tiny': preset(128, 4, 4, 256, 0.3, 2.5 * (128 * 2000) ** -0.5, 2000, 4096),
};

/** An example of each task, and the pairs and steps that teach it; those of src/data/tasks.cpp. */
export const EXAMPLES: Record<TaskName, { example: string; pairs: number; steps: number }> = {
  reverse: { example: 'wasm → msaw', pairs: 6000, steps: 500 },
  dates: { example: 'the 3rd of March 1987 → 1987-03-03', pairs: 6000, steps: 500 },
  add: { example: '12+345 → 357', pairs: 20_000, steps: 2000 },
  copy: { example: 'wasm → wasm', pairs: 6000, steps: 400 },
  sort: { example: 'wasm → amsw', pairs: 6000, steps: 600 },
  roman: { example: '1987 → MCMLXXXVII', pairs: 3500, steps: 600 },
  'pig-latin': { example: 'great wind → eatgray indway', pairs: 10_000, steps: 1000 },
};

/** What each kind of data begins with: tuned so that one press teaches it. */
function beginnings({ data = 'reverse', ...chosen }: Partial<Values>, ownPairs: number): Record<string, string | number> {
  if (!isTask(data)) {
    const count = ownPairs || SHIPPED_PAIRS;
    // Few pairs give few pieces, and want more passes.
    const [tokenizer, epochs] = [count < 3000 ? 'char' : 'bpe', Math.min(200, Math.max(3, Math.round(240_000 / count)))];
    return { norm: 'pre', clip_norm: 1, preset: 'multi30k-tiny', tokenizer, epochs, learning_rate: 2e-3, warmup_steps: 300, batch_tokens: 1024 };
  }
  const { pairs, steps } = EXAMPLES[data];
  const goal = chosen.goal ?? (chosen.epochs ? 'epochs' : 'steps');
  const schedule = goal === 'steps' ? 'cosine' : 'noam'; // the cosine must know where it ends
  return { preset: 'toy', tokenizer: 'char', schedule, goal, pairs, steps, epochs: 6 };
}

/** Four digits are enough to show, and to say a rate. */
export const short = (value: string | number) => String(typeof value === 'number' ? Number(value.toPrecision(4)) : value);

/** The defaults, which depend on the data and the preset. */
export function defaultsOf(chosen: Partial<Values>, ownPairs: number): Values {
  const data = chosen.data ?? 'reverse';
  const start = beginnings(chosen, ownPairs);
  const size = (chosen.preset ?? start.preset) as keyof typeof PRESETS;
  const own = Math.max(1, Math.min(500, Math.round(ownPairs / 20)));
  const all: Record<string, string | number> = {
    data, pairs: 6000, validation: own, lowercase: 'no', longest: 500, vocab: 2000, joint: 'yes',
    goal: 'epochs', steps: 3000, minutes: 15, seed: 1,
    ...(PRESETS[size] ?? PRESETS.tiny),
    ...(chosen.joint === 'no' ? { tie_embeddings: 'target' } : {}),
    ...(chosen.preset === undefined || chosen.preset === start.preset ? start : { ...start, ...PRESETS[size] }),
    preset: size,
  };
  const at = (key: Key) => chosen[key] ?? all[key];
  if (at('goal') === 'steps') all.decay_steps = Math.max(Number(at('steps')), Number(at('warmup_steps')) + 1) || 1000;
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, short(value)])) as Values;
}

/** A task's characters are what its attention shows; pieces would hide them. */
export const tokenizersOf =
  (data: string): readonly string[] => FIELDS.tokenizer.options.slice(0, isTask(data) ? 2 : 4);

export type Wrong = readonly ['choice' | 'number' | 'whole' | 'range' | 'heads' | 'even' | 'oneVocabulary' | 'decay' | 'most', Record<string, string | number>?];

/** The number of validation pairs: '200', or '5%' of `pairs`. */
export function validationOf(value: string, pairs: number): number {
  const share = /^\s*([\d.]+)\s*%\s*$/.exec(value);
  return share ? Math.max(1, Math.round((pairs * Number(share[1])) / 100)) : Number(value);
}

/** What is wrong with each value; `pairs` are those of the data, where they are known. */
export function wrongs(values: Values, pairs: number | undefined): Partial<Record<Key, Wrong>> {
  const found: Partial<Record<Key, Wrong>> = {};
  for (const key of Object.keys(FIELDS) as Key[]) {
    const field = FIELDS[key];
    if ('options' in field) {
      if (!(field.options as string[]).includes(values[key])) found[key] = ['choice'];
      continue;
    }
    const value = key === 'validation' ? validationOf(values[key], pairs ?? 1000) : Number(values[key]);
    if (values[key].trim() === '' || Number.isNaN(value)) found[key] = ['number'];
    else if (field.whole && !Number.isInteger(value)) found[key] = ['whole'];
    else if (value < field.min || value > field.max) found[key] = ['range', { min: field.min, max: field.max }];
  }
  const at = (key: Key) => Number(values[key]);
  const set = (key: Key, wrong: Wrong) => (found[key] ??= wrong);
  if (!tokenizersOf(values.data).includes(values.tokenizer)) set('tokenizer', ['choice']);
  if (at('d_model') % at('num_heads') !== 0) set('num_heads', ['heads', { width: values.d_model }]);
  if (values.positions === 'sinusoidal' && at('d_model') % 2 !== 0) set('d_model', ['even']);
  if (values.joint === 'no' && values.tie_embeddings === 'all') set('tie_embeddings', ['oneVocabulary']);
  if (values.schedule === 'cosine' && at('decay_steps') <= at('warmup_steps')) set('decay_steps', ['decay']);
  if (values.data === 'roman' && at('pairs') > 3700) set('pairs', ['most', { count: 3700 }]); // and 200 to validate on
  if (values.data === 'own' && pairs !== undefined && validationOf(values.validation, pairs) >= pairs) set('validation', ['most', { count: pairs - 1 }]);
  return found;
}

/** Whether a field means anything beside the other values. */
export function isUsed(key: Key, values: Values): boolean {
  switch (key) {
    case 'pairs': return isTask(values.data);
    case 'validation': return values.data === 'own'; // the others bring theirs
    case 'lowercase': case 'longest': return !isTask(values.data);
    case 'vocab': return values.tokenizer !== 'char';
    case 'steps': case 'epochs': case 'minutes': return values.goal === key;
    case 'decay_steps': return values.schedule === 'cosine';
    case 'weight_decay': return values.optimizer !== 'adam';
    default: return true;
  }
}

/** 'data:reverse,seed:3': only what was chosen. */
export const write = (chosen: Partial<Values>) => Object.entries(chosen).map((entry) => entry.join(':')).join(',');

export function parse(text: string): Partial<Values> {
  const entries = text.split(',').map((entry) => entry.split(/:(.*)/s));
  return Object.fromEntries(entries.filter(([key, value]) => Object.hasOwn(FIELDS, key) && value !== undefined && (key !== 'data' || FIELDS.data.options.includes(value as DataName))));
}
