// Checks of what callers pass to Translator.load and to Trainer, and where their models come from.
import {
  boolean, callback, checked, isObject, show, signal, splitOptions, string, toJson, whole, type Rule, type Rules,
} from '../shared/options.js';
import type { ModelData } from '../shared/protocol.js';
import type { Pair, SaveOptions, TrainerOptions } from '../shared/trainer-types.js';
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

const pairsRule: Rule = { accepts: Array.isArray, expected: "an array of pairs such as ['Hund', 'dog']" };

/** Throws unless they are pairs of strings; `name` is the option's. */
export function checkPairs(place: string, name: string, given: unknown): readonly Pair[] {
  if (!Array.isArray(given)) throw new TypeError(`[${place}] ${name} must be ${pairsRule.expected}, not ${show(given)}`);
  Array.from(given).forEach((pair: unknown, i) => {
    if (Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string')) return;
    throw new TypeError(`[${place}] ${name}[${i}] must be two strings, source and target, not ${show(pair)}`);
  });
  return given as readonly Pair[];
}

// What has a form that JSON cannot hold, and what is about the worker.
type OwnOptions = Pick<TrainerOptions, 'pairs' | 'tsv' | 'from' | 'signal'> & WorkerOptions;
const ownRules: Rules<OwnOptions> = {
  ...workerRules,
  pairs: pairsRule,
  tsv: string,
  from: { accepts: (value) => value !== null, expected: 'a model' },
  signal,
};

/** The options of Trainer.create and Trainer.resume: texts and files, and JSON of RunRequest in src/train/request.h. */
export function checkRequest(place: string, options: unknown, resume: boolean) {
  if (!isObject(options)) throw new TypeError(`[${place}] options must be an object, not ${show(options)}`);
  const { validation, tokenizer, task, ...rest } = options as TrainerOptions;
  const [{ pairs, tsv, from, signal: stop, ...where }, others] = splitOptions<OwnOptions>(place, ownRules, rest);
  checkWorker(place, where);
  if (resume && from !== undefined) throw new TypeError("[resume] unknown option 'from'; the first argument is the run's file");
  const texts = {
    pairs: pairs && checkPairs(place, 'pairs', pairs),
    tsv,
    validation: Array.isArray(validation) ? checkPairs(place, 'validation', validation) : undefined,
  };
  const files = tokenizerFiles(tokenizer);
  const request = {
    ...JSON.parse(others) as object,
    resume,
    validation: texts.validation ? undefined : validation,
    tokenizer: files ? undefined : tokenizer,
    task: typeof task === 'string' ? { name: task } : task,
  };
  return { question: { options: toJson(request), texts, tokenizer: files }, from, signal: stop, where };
}

function tokenizerFiles(given: unknown): { source: Uint8Array; target?: Uint8Array } | undefined {
  if (given instanceof Uint8Array) return { source: given };
  if (!isObject(given) || !('source' in given || 'target' in given)) return undefined;
  const file: Rule = { accepts: (value) => value instanceof Uint8Array, expected: 'the bytes of a .model file' };
  const { source, target } = checked<{ source?: Uint8Array; target?: Uint8Array }>(
    'train', { source: file, target: file }, given, 'tokenizer.',
  );
  if (source && target) return { source, target };
  throw new TypeError('[train] tokenizer must have a type, or a source and a target file');
}

const strings: Rule = {
  accepts: (value) => isObject(value) && Object.values(value).every((text) => typeof text === 'string'),
  expected: 'an object of strings',
};
const saveRules: Rules<SaveOptions> = { optimizer: boolean, data: boolean, metadata: strings, signal };

type CheckedSave = Required<Omit<SaveOptions, 'signal'>> & Pick<SaveOptions, 'signal'>;

export function checkSave(options: unknown): CheckedSave {
  const given = checked<SaveOptions>('save', saveRules, options);
  const { optimizer = true, data = optimizer, metadata = {} } = given;
  if (data && !optimizer) throw new Error('[save] data is true, but a file without the optimizer holds no sentence pairs');
  return { optimizer, data, metadata, signal: given.signal };
}

export function checkChanges(changes: unknown): string {
  if (!isObject(changes)) throw new TypeError(`[change] the changes must be an object of settings, not ${show(changes)}`);
  return toJson(changes);
}

/** The signal of run() or evaluate(), and JSON of the other options. */
export function checkSignal(place: string, options: unknown): [{ signal?: AbortSignal }, string] {
  return splitOptions<{ signal?: AbortSignal }>(place, { signal }, options);
}
