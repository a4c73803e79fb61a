// Checks of what callers pass to Translator.load and to Trainer, and where their models come from.
import {
  boolean, callback, checked, isNumber, isObject, oneOf, show, signal, string, translateRules, whole, type Rule, type Rules,
} from '../shared/options.js';
import type { EvaluateRequest, ModelData, RunSettings, TrainRequest } from '../shared/protocol.js';
import type {
  EvaluateOptions, Pair, ResumeOptions, RunOptions, SaveOptions, TaskName, TokenizerSettings, TrainerOptions,
  TrainingData,
} from '../shared/trainer-types.js';
import type { LoadOptions, WorkerOptions } from '../shared/types.js';
import { connections } from './connection.js';

/** The model in a form that can be posted. */
export function modelData(model: unknown): ModelData {
  if (model instanceof Blob) return { kind: 'blob', blob: model };
  // A copy, so that the caller keeps the bytes. Not by slice(), which in a Buffer of Node gives a view.
  if (model instanceof Uint8Array) return { kind: 'bytes', bytes: new Uint8Array(model) };
  if (model instanceof ArrayBuffer) return { kind: 'bytes', bytes: new Uint8Array(model.slice(0)) };
  if (model instanceof URL) return urlData(model);
  if (typeof model !== 'string' || model === '') {
    throw new TypeError(
      `[load] the model must be a URL, a path, a Blob, an ArrayBuffer or a Uint8Array, not ${show(model)}`,
    );
  }
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  if (base !== undefined) return urlData(new URL(model, base));
  // One letter before the colon is a drive of Windows.
  return /^[a-z][a-z0-9+.-]+:/i.test(model) ? urlData(new URL(model)) : { kind: 'path', path: model };
}

function urlData(url: URL): ModelData {
  const isFile = url.protocol === 'file:' && globalThis.document === undefined;
  return isFile ? { kind: 'path', path: url.href } : { kind: 'url', url: url.href };
}

/** The option `cache` or its default. Throws if it is true and caching is impossible. */
export function shouldCache(model: ModelData, wanted: boolean | undefined): boolean {
  const isWeb = model.kind === 'url' && /^https?:/.test(model.url);
  if (wanted && !isWeb) throw new Error('[load] cache is true, but only models from http(s) URLs can be cached');
  if (wanted && !('caches' in globalThis)) {
    throw new Error('[load] cache is true, but there is no Cache Storage here; browsers have it on https pages');
  }
  return wanted ?? (isWeb && 'caches' in globalThis);
}

export const workerRules: Rules<WorkerOptions> = {
  threads: {
    accepts: (value) => value === 'auto' || whole(1, 64).accepts(value),
    expected: "'auto' or a whole number from 1 to 64",
  },
  shareWith: {
    accepts: (value) => isObject(value) && connections.has(value),
    expected: 'a Translator or a Trainer',
  },
};

/** Throws if the options of a worker exclude each other. */
export function checkWorker(place: string, { threads, shareWith }: WorkerOptions): void {
  if (shareWith && threads !== undefined) {
    throw new Error(`[${place}] threads is ${show(threads)}, but shareWith uses the threads of the other one`);
  }
}

const loadRules: Rules<LoadOptions> = {
  ...workerRules,
  onProgress: callback,
  signal,
  cache: boolean,
  integrity: {
    accepts: (value) => typeof value === 'string' && /^sha(256|384|512)-[A-Za-z0-9+/]+={0,2}$/.test(value),
    expected: "'sha256-' and the digest in base64",
  },
};

export function checkLoad(options: unknown): LoadOptions {
  const given = checked<LoadOptions>('load', loadRules, options);
  checkWorker('load', given);
  return given;
}

const object = (example: string): Rule => ({ accepts: isObject, expected: `an object such as ${example}` });
const pairs: Rule = { accepts: Array.isArray, expected: "an array of pairs such as ['Hund', 'dog']" };
const strings: Rule = {
  accepts: (value) => isObject(value) && Object.values(value).every((text) => typeof text === 'string'),
  expected: 'an object of strings',
};
const above0: Rule = { accepts: (value) => isNumber(value) && value > 0, expected: 'a number above 0' };

const taskName = oneOf('copy', 'reverse', 'sort', 'add', 'dates', 'roman', 'pig-latin');
const dataRules: Rules<TrainingData> = {
  pairs,
  tsv: string,
  task: {
    accepts: (value) => taskName.accepts(value) || isObject(value),
    expected: `${taskName.expected}, or { name, pairs }`,
  },
  validation: {
    accepts: (value) => whole(1).accepts(value) || Array.isArray(value),
    expected: 'a whole number from 1, or an array of pairs',
  },
};
const taskRules: Rules<{ name: TaskName; pairs?: number }> = { name: taskName, pairs: whole(1, 1_000_000) };

const createRules: Rules<TrainerOptions> = {
  ...dataRules,
  preset: oneOf('toy', 'tiny', 'small', 'base', 'big', 'multi30k-tiny', 'kyubyong'),
  config: object('{ d_model: 128 }'),
  tokenizer: object("{ type: 'bpe', vocabSize: 2000 }, or the bytes of a .model file"),
  seed: whole(0, Number.MAX_SAFE_INTEGER),
  ...workerRules,
  from: { accepts: (value) => value !== null, expected: 'a model' },
  languages: string,
  metadata: strings,
  signal,
};

const tokenizerRules: Rules<TokenizerSettings> = {
  type: oneOf('char', 'word', 'bpe', 'unigram'),
  vocabSize: whole(5, 2 ** 20),
  joint: boolean,
  normalization: oneOf('nmt_nfkc', 'identity'),
};
const filesRules = {
  source: { accepts: (value: unknown) => value instanceof Uint8Array, expected: 'the bytes of a .model file' },
  target: { accepts: (value: unknown) => value instanceof Uint8Array, expected: 'the bytes of a .model file' },
};

const runRules: Rules<RunOptions> = {
  steps: whole(1),
  epochs: above0,
  minutes: above0,
  reportEvery: whole(1),
  validateEvery: whole(1),
  samples: whole(0),
  attention: boolean,
  pinned: {
    accepts: (value) => Array.isArray(value) && value.every((text) => typeof text === 'string'),
    expected: 'an array of strings',
  },
  pinEvery: whole(1),
  signal,
};

const saveRules: Rules<SaveOptions> = { optimizer: boolean, data: boolean, metadata: strings, signal };

// The vocabulary decides these.
const decided = ['source_vocab_size', 'target_vocab_size', 'pad_id', 'bos_id', 'eos_id'];

export function checkPairs(place: string, name: string, given: unknown): readonly Pair[] {
  if (!Array.isArray(given)) throw new TypeError(`[${place}] ${name} must be ${pairs.expected}, not ${show(given)}`);
  Array.from(given).forEach((pair: unknown, i) => {
    if (Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string')) return;
    throw new TypeError(`[${place}] ${name}[${i}] must be two strings, source and target, not ${show(pair)}`);
  });
  return given as readonly Pair[];
}

export function checkReferences(given: unknown): readonly Pair[] {
  const checked = checkPairs('evaluate', 'pairs', given);
  if (checked.length === 0) throw new Error('[evaluate] pairs is empty; it needs at least one');
  return checked;
}

export function checkChanges(changes: unknown): object {
  if (!isObject(changes)) throw new TypeError(`[change] the changes must be an object of settings, not ${show(changes)}`);
  return changes;
}

function checkData(place: string, { pairs, tsv, task, validation }: TrainingData): TrainingData {
  const given = Object.entries({ pairs, tsv, task }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    throw new Error(`[${place}] ${given.map(([name]) => name).join(' and ')} are both given; the pairs come from one`);
  }
  if (pairs) checkPairs(place, 'pairs', pairs);
  if (Array.isArray(validation)) checkPairs(place, 'validation', validation);
  if (isObject(task)) {
    const { name } = checked<{ name: TaskName; pairs?: number }>(place, taskRules, task, 'task.');
    if (name === undefined) throw new TypeError(`[${place}] task.name is missing`);
  }
  if (task !== undefined && validation !== undefined) {
    throw new Error(`[${place}] validation is given, but a task makes its own pairs for it`);
  }
  if (given.length === 0 && validation !== undefined) {
    throw new Error(`[${place}] validation is given, but no pairs to train on`);
  }
  const all = Object.entries({ pairs, tsv, task, validation });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

type CheckedCreate = Pick<TrainRequest, 'data' | 'settings' | 'metadata'>
  & Pick<TrainerOptions, 'from' | 'threads' | 'shareWith' | 'signal'>;

export function checkCreate(options: unknown): CheckedCreate {
  const given = checked<TrainerOptions>('train', createRules, options);
  const { preset, config = {}, tokenizer, seed, threads, shareWith, from, languages, metadata, signal } = given;
  checkWorker('train', given);
  const data = checkData('train', given);
  if (Object.keys(data).length === 0) throw new Error('[train] one of pairs, tsv and task is needed');
  if (from !== undefined) {
    const own = Object.entries({ preset, tokenizer }).find(([, value]) => value !== undefined);
    if (own) throw new Error(`[train] ${own[0]} is given, but a model that is fine-tuned has its own`);
  }
  for (const key of decided) {
    if (key in config) throw new Error(`[train] config.${key} is given, but the vocabulary decides it`);
  }
  if (seed !== undefined && config.seed !== undefined && config.seed !== seed) {
    throw new Error(`[train] seed is ${seed}, but config.seed is ${config.seed}`);
  }
  if (tokenizer && !(tokenizer instanceof Uint8Array)) checkTokenizer(tokenizer);
  return {
    data,
    settings: {
      ...(preset && { preset }),
      ...(tokenizer && { tokenizer }),
      config: { ...config, ...(seed !== undefined && { seed }) },
    },
    metadata: { ...metadata, ...(languages !== undefined && { languages }) },
    from,
    threads,
    shareWith,
    signal,
  };
}

function checkTokenizer(tokenizer: object): void {
  if (!('type' in tokenizer)) {
    const given = checked<Partial<Record<'source' | 'target', unknown>>>('train', filesRules, tokenizer, 'tokenizer.');
    const { source, target } = given;
    if (!source || !target) throw new TypeError('[train] tokenizer must have a type, or a source and a target file');
    return;
  }
  const { type, vocabSize, normalization } = checked<TokenizerSettings>('train', tokenizerRules, tokenizer, 'tokenizer.');
  if (type === 'char' && vocabSize !== undefined) {
    throw new Error('[train] tokenizer.vocabSize is given, but the texts decide how many characters there are');
  }
  if (normalization === 'nmt_nfkc' && (type === 'char' || type === 'word')) {
    throw new Error(`[train] tokenizer.normalization is 'nmt_nfkc', but type '${type}' takes the text as it is`);
  }
}

type CheckedResume = Pick<ResumeOptions, 'threads' | 'shareWith' | 'signal'> & { data: TrainingData };

export function checkResume(options: unknown): CheckedResume {
  const rules: Rules<ResumeOptions> = { ...dataRules, ...workerRules, signal };
  const given = checked<ResumeOptions>('resume', rules, options);
  const { threads, shareWith, signal: stop } = given;
  checkWorker('resume', given);
  return { data: checkData('resume', given), threads, shareWith, signal: stop };
}

export function checkRun(options: unknown): RunSettings {
  const { signal: _, ...given } = checked<RunOptions>('run', runRules, options);
  const { reportEvery = 10 } = given;
  return { samples: 5, attention: false, pinned: [], pinEvery: reportEvery, ...given, reportEvery };
}

type CheckedSave = Required<Omit<SaveOptions, 'signal'>> & Pick<SaveOptions, 'signal'>;

export function checkSave(options: unknown): CheckedSave {
  const { optimizer = true, data = optimizer, metadata = {}, signal: stop } = checked<SaveOptions>('save', saveRules, options);
  if (data && !optimizer) throw new Error('[save] data is true, but a file without the optimizer holds none');
  return { optimizer, data, metadata, signal: stop };
}

export function checkEvaluate(options: unknown): EvaluateRequest['options'] & Pick<EvaluateOptions, 'signal'> {
  const { beamSize, lengthPenalty } = translateRules;
  const rules: Rules<EvaluateOptions> = { beamSize, lengthPenalty, signal };
  return checked<EvaluateOptions>('evaluate', rules, options);
}
