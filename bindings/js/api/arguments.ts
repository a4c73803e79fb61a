// Checks of what callers pass to Translator.load and to Trainer, and where their models come from.
import { absolute, absoluteFolder, address, baseAddress } from '../shared/addresses.js';
import {
  boolean, callback, checked, isNumber, isObject, isTagged, memory, oneOf, show, signal, unknownOption, splitOptions,
  string, takeOptions, toJson, whole, withNewNames, type Rule, type Rules,
} from '../shared/checks.js';
import { WasmformerError, WasmformerTypeError } from '../shared/errors.js';
import type { AnnotatedText, GivenPairs, GivenTexts, ModelData } from '../shared/protocol.js';
import type { SentencePair, SaveOptions, TrainerOptions } from '../shared/trainer-types.js';
import { programFolders } from '../shared/installed.js';
import { isNode } from '../shared/platform.js';
import type { FileOptions, ListSource, LoadOptions, RequestSettings, WorkerOptions } from '../shared/types.js';
import { connections } from './connection.js';

const mainHub = 'https://huggingface.co';

/** A Hugging Face model, by its name or by an address that people copy: of its page, a folder or a file. */
function hubData(model: string, hub: string | URL, precision: 'f32' | 'f16' | 'int8'): ModelData | undefined {
  const base = absoluteFolder('load', 'hubURL', hub)!;
  const at = (name: string, revision = 'main') => new URL(`${base}${name}/resolve/${revision}/`).href;
  if (/^[\w-][\w.-]*\/[\w-][\w.-]*$/.test(model) && !/\.[a-z]+$/i.test(model)) {
    return { kind: 'hub', url: at(model), precision, ...(isNode && { path: model }) };
  }
  if (!model.startsWith(base)) return undefined;
  const [, name, kind, revision, file] =
    /^\/([^/?#]+\/[^/?#]+)(?:\/(tree|resolve|blob)\/([^/?#]+)(?:\/([^?#]+))?)?\/?(?:[?#].*)?$/.exec(model.slice(base.length - 1)) ?? [];
  if (!name || (kind === 'resolve' && file)) return undefined;
  return kind === 'blob' && file ? { kind: 'url', url: at(name, revision) + file } : { kind: 'hub', url: at(name, revision), precision };
}

/** Returns whether this is the name of a model: two codes of languages. */
export const isModelName = (model: unknown): model is string => typeof model === 'string' && /^[a-z]{2,3}-[a-z]{2,3}$/.test(model);

function namedData(name: string, modelsURL: string | URL | undefined): ModelData {
  const folder = absoluteFolder('load', 'modelsURL', modelsURL);
  return { kind: 'named', name, folder, ...(isNode && !folder && { installed: programFolders() }) };
}

const listRules: Rules<ListSource> = { list: { accepts: () => true, expected: '' }, from: string, to: string, architecture: string };

type SourceOptions = Pick<LoadOptions, 'hubURL' | 'modelsURL' | 'precision'>;

/** The model with what to send to its server; that of the packages gets nothing. */
const withRequest = (data: ModelData, request: RequestSettings): ModelData =>
  (data.kind === 'url' || data.kind === 'hub' || (data.kind === 'named' && data.folder) ? { ...data, request } : data);

/** The model in a form that can be posted. */
export function modelData(
  model: unknown, { requestInit, ...how }: SourceOptions & Pick<LoadOptions, 'requestInit'> = {},
): ModelData {
  const data = sourceData(model, how);
  if (requestInit === undefined) return data;
  return data.kind === 'listed' ? { ...data, list: withRequest(data.list, requestInit) } : withRequest(data, requestInit);
}

function sourceData(model: unknown, { hubURL = mainHub, modelsURL, precision = 'int8' }: SourceOptions): ModelData {
  if (isModelName(model)) return namedData(model, modelsURL);
  const hosted = typeof model === 'string' || model instanceof URL ? hubData(String(model), hubURL, precision) : undefined;
  if (hosted) return hosted;
  if (!isObject(model) || !('list' in model)) return fileData(model);
  const { list, from, to, architecture } = checked<ListSource>('load', listRules, model);
  if (!from || !to) throw new WasmformerTypeError('load', "a model in a list is chosen by its languages; give 'from' and 'to'");
  return { kind: 'listed', list: fileData(list), from, to, architecture, precision };
}

export function fileData(model: unknown): ModelData {
  if (model instanceof Blob) return { kind: 'blob', blob: model };
  // By their tags, since Jest gives each test classes of its own. A copy, so that the caller keeps the bytes; not by
  // slice(), which in a Buffer of Node gives a view.
  if (isTagged<Uint8Array>(model, 'Uint8Array')) return { kind: 'bytes', bytes: new Uint8Array(model) };
  if (isTagged<ArrayBuffer>(model, 'ArrayBuffer')) return { kind: 'bytes', bytes: new Uint8Array(model.slice(0)) };
  if (model instanceof URL) return urlData(model);
  if (typeof model !== 'string' || model === '') {
    throw new WasmformerTypeError('load', `the model must be a URL, a path, a Blob, an ArrayBuffer or a Uint8Array, not ${show(model)}`);
  }
  const base = baseAddress();
  if (base !== undefined) return urlData(asURL(model, base));
  // One letter before the colon is a drive of Windows.
  return /^[a-z][a-z0-9+.-]+:/i.test(model) ? urlData(asURL(model)) : { kind: 'path', path: model };
}

function asURL(text: string, base?: string): URL {
  try {
    return new URL(text, base);
  } catch (cause) {
    throw new WasmformerTypeError('load', `'${text}' is no URL`, { cause });
  }
}

function urlData(url: URL): ModelData {
  const isFile = url.protocol === 'file:' && (isNode || globalThis.document === undefined);
  return isFile ? { kind: 'path', path: url.href } : { kind: 'url', url: url.href };
}

export const fileRules: Rules<FileOptions> = { workerURL: address, wasmURL: address };

export function checkFiles({ workerURL, wasmURL }: FileOptions): { script?: URL; wasm?: string } {
  return { script: absolute('load', 'workerURL', workerURL), wasm: absoluteFolder('load', 'wasmURL', wasmURL) };
}

export const workerRules: Rules<WorkerOptions> = {
  ...fileRules,
  threads: {
    accepts: (value) => value === 'auto' || whole(1, 64).accepts(value), expected: "'auto' or a whole number from 1 to 64",
  },
  maximumMemory: memory,
  shareWith: {
    accepts: (value) => isObject(value) && connections.has(value), expected: 'a Translator, a Classifier, a Tagger or a Trainer',
  },
};

/** Throws if the options of a worker exclude each other. */
export function checkWorker(place: string, { threads, maximumMemory, shareWith, ...files }: WorkerOptions): void {
  const given = (['workerURL', 'wasmURL'] as const).find((name) => files[name] !== undefined);
  if (shareWith && given) throw new WasmformerError(place, `${given} is given, but shareWith already has a worker`);
  if (shareWith && threads !== undefined) {
    throw new WasmformerError(place, `threads is ${show(threads)}, but shareWith uses the threads of the other model`);
  }
  if (shareWith && maximumMemory !== undefined) {
    throw new WasmformerError(place, `maximumMemory is ${maximumMemory}, but shareWith uses the memory of the other model`);
  }
}

const isStore = (value: unknown) =>
  isObject(value) && ['match', 'put', 'delete', 'keys'].every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
const areHeaders = (value: unknown) => isObject(value) && Object.values(value).every((text) => typeof text === 'string');
const requestRules: Rules<RequestSettings> = {
  headers: { accepts: areHeaders, expected: 'an object of strings' },
  credentials: oneOf('omit', 'same-origin', 'include'),
};

export const loadRules: Rules<Omit<LoadOptions, 'hub'>> = {
  ...workerRules,
  onProgress: callback,
  signal,
  cache: {
    accepts: (value) => typeof value === 'boolean' || isStore(value), expected: 'true, false or an object with match, put, delete and keys',
  },
  cacheLimit: { accepts: (value) => isNumber(value) && value >= 0, expected: 'a number of bytes' },
  requestInit: { accepts: isObject, expected: 'an object with headers or credentials' },
  integrity: {
    accepts: (value) => typeof value === 'string' && /^sha(256|384|512)-[A-Za-z0-9+/]+={0,2}$/.test(value),
    expected: "'sha256-' and the digest in base64",
  },
  precision: oneOf('f32', 'f16', 'int8'),
  modelsURL: address,
  hubURL: { accepts: (value) => /^https?:\/\/./.test(String(value)), expected: 'a URL' },
};

export function checkLoad(options: unknown): LoadOptions {
  const given = checked<Omit<LoadOptions, 'hub'>>('load', loadRules, withNewNames('load', { hub: 'hubURL' }, options));
  checkWorker('load', given);
  const { requestInit } = given;
  if (!requestInit) return given;
  return { ...given, requestInit: checked<RequestSettings>('load', requestRules, requestInit, 'requestInit.') };
}

const pairsRule: Rule = { accepts: Array.isArray, expected: "an array of pairs such as ['Hund', 'dog']" };

/** Throws unless `given` is an array of pairs of strings; `name` is the option's name. */
export function checkPairs(place: string, name: string, given: unknown): readonly SentencePair[] {
  if (!Array.isArray(given)) throw new WasmformerTypeError(place, `${name} must be ${pairsRule.expected}, not ${show(given)}`);
  Array.from(given).forEach((pair: unknown, i) => {
    if (Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string')) return;
    throw new WasmformerTypeError(place, `${name}[${i}] must be two strings, source and target, not ${show(pair)}`);
  });
  return (given as SentencePair[]).map(([source, target]) => [source, target]); // which can be posted, as a Proxy cannot
}

/** Examples as `read` makes them of two values each; a string (a file's text) stays. */
function checkExamples(
  name: string, given: unknown, expected: string, read: (first: unknown, second: unknown) => AnnotatedText | undefined,
): string | readonly AnnotatedText[] | undefined {
  if (!Array.isArray(given)) return given as string | undefined;
  return Array.from(given, (example: unknown, i) => {
    const text = Array.isArray(example) && example.length === 2 ? read(example[0], example[1]) : undefined;
    if (text) return text;
    throw new WasmformerTypeError('train', `${name}[${i}] must be ${expected}, not ${JSON.stringify(example)?.slice(0, 80)}`);
  });
}

const areNames = (given: unknown): given is string[] =>
  Array.isArray(given) && given.every((name) => typeof name === 'string' && name !== '');

function checkLabeled(name: string, given: unknown, isMulti: boolean) {
  const hint = 'a label and its text; several labels, in an array, need config.multi_label';
  return checkExamples(name, given, hint, (labels, text) => {
    const classes: unknown = Array.isArray(labels) ? labels : [labels];
    if (typeof text !== 'string' || !areNames(classes) || !(isMulti || classes.length === 1)) return undefined;
    return { text, words: [], classes, tags: [] };
  });
}

function checkTagged(name: string, given: unknown) {
  return checkExamples(name, given, 'words and as many tags, none of them empty', (words, tags) => {
    if (!areNames(words) || !areNames(tags) || words.length === 0 || words.length !== tags.length) return undefined;
    return { text: words.join(' '), words, classes: [], tags };
  });
}

function checkPlain(given: string | readonly string[] | undefined): readonly string[] | undefined {
  const lines = typeof given === 'string' ? given.split(/\r?\n/) : given;
  return lines?.filter((line) => line !== '');
}

// Options that JSON cannot hold.
type OwnTexts = 'pairs' | 'tsv' | 'labeled' | 'tagged' | 'validLabeled' | 'validTagged' | 'text' | 'monolingual';
type OwnOptions = Pick<TrainerOptions, OwnTexts | 'from' | 'teacher' | 'signal'>;
const examplesRule: Rule = {
  accepts: (value) => typeof value === 'string' || Array.isArray(value), expected: 'an array of examples, or the text of a file',
};
const modelRule: Rule = { accepts: (value) => value !== null, expected: 'a model' };
const plainRule: Rule = {
  accepts: (value) => typeof value === 'string' || (Array.isArray(value) && value.every((line) => typeof line === 'string')),
  expected: 'an array of texts, or the text of a file',
};
const ownRules: Rules<OwnOptions> = {
  pairs: pairsRule,
  tsv: { accepts: (value) => typeof value === 'string' || Array.isArray(value), expected: 'a string' },
  labeled: examplesRule,
  tagged: examplesRule,
  validLabeled: examplesRule,
  validTagged: examplesRule,
  text: plainRule,
  monolingual: plainRule,
  from: modelRule,
  teacher: modelRule,
  signal,
};

/** The corpora in pairs or tsv: one, or with weights a list of them. */
function checkCorpora(place: string, { pairs, tsv }: OwnOptions, weights: unknown): GivenPairs[] {
  if (!Array.isArray(weights)) {
    if (tsv !== undefined) checked<{ tsv?: string }>(place, { tsv: string }, { tsv });
    return [{ pairs: pairs && checkPairs(place, 'pairs', pairs), tsv: tsv as string | undefined }];
  }
  for (const [name, list] of Object.entries({ pairs, tsv })) {
    if (list === undefined) continue;
    if (!Array.isArray(list)) throw new WasmformerTypeError(place, `with weights, ${name} must be a list of corpora, not ${show(list)}`);
    if (list.length === weights.length) continue;
    throw new WasmformerError(place, `weights has ${weights.length} numbers, but ${name} has ${list.length} corpora`);
  }
  if (!pairs && !tsv) throw new WasmformerError(place, 'weights is given, but neither pairs nor tsv');
  return weights.map((_, i) => ({
    pairs: pairs && checkPairs(place, `pairs[${i}]`, pairs[i]),
    tsv: tsv && checked<{ tsv?: string }>(place, { tsv: string }, { tsv: tsv[i] }).tsv,
  }));
}

/** Texts for an encoder, or more sources for a teacher. */
function checkPlainTexts(place: string, { text, monolingual, teacher }: OwnOptions): readonly string[] | undefined {
  if (text !== undefined && teacher !== undefined) {
    throw new WasmformerError(place, 'text trains an encoder, which no teacher teaches; more sources for one are monolingual');
  }
  if (monolingual !== undefined && teacher === undefined) {
    throw new WasmformerError(place, 'monolingual has sources for a teacher; an encoder learns to fill masks in text');
  }
  return checkPlain(text ?? monolingual);
}

function checkTexts(place: string, own: OwnOptions, weights: unknown, isMulti: boolean): GivenTexts {
  return {
    corpora: checkCorpora(place, own, weights),
    labelled: checkLabeled('labeled', own.labeled, isMulti),
    tagged: checkTagged('tagged', own.tagged),
    mono: checkPlainTexts(place, own),
  };
}

function checkValidTexts(place: string, own: OwnOptions, validation: unknown, isMulti: boolean): GivenTexts {
  return {
    corpora: Array.isArray(validation) ? [{ pairs: checkPairs(place, 'validation', validation) }] : [],
    labelled: checkLabeled('validLabeled', own.validLabeled, isMulti),
    tagged: checkTagged('validTagged', own.validTagged),
  };
}

/** Options of Trainer.create and Trainer.resume as texts, files, and JSON of RunRequest (src/include/wasmformer/training.h). */
export function checkRequest(place: string, options: unknown, resume: boolean) {
  if (!isObject(options)) throw new WasmformerTypeError(place, `options must be an object, not ${show(options)}`);
  const named = withNewNames(place, { labelled: 'labeled', validLabelled: 'validLabeled', mono: 'text' }, options);
  const { validation, tokenizer, task, ...rest } = named as TrainerOptions;
  const [where, withoutWorker] = takeOptions<WorkerOptions>(place, workerRules, rest);
  const [own, others] = takeOptions<OwnOptions>(place, ownRules, withoutWorker);
  checkWorker(place, where);
  if (resume && own.from !== undefined) throw unknownOption('resume', 'from', "the first argument is the run's file");
  const isMulti = resume || (isObject(rest.config) && rest.config.multi_label === true);
  const files = tokenizerFiles(tokenizer);
  const request = {
    ...others,
    resume,
    validation: Array.isArray(validation) ? undefined : validation,
    tokenizer: files ? undefined : tokenizer,
    task: typeof task === 'string' ? { name: task } : task,
  };
  const question = {
    options: toJson(request),
    texts: checkTexts(place, own, rest.weights, isMulti),
    valid: checkValidTexts(place, own, validation, isMulti),
    tokenizer: files,
  };
  return { question, where, from: own.from, teacher: own.teacher, signal: own.signal };
}

function tokenizerFiles(given: unknown): { source: Uint8Array; target?: Uint8Array } | undefined {
  if (given instanceof Uint8Array) return { source: given };
  if (!isObject(given) || !('source' in given || 'target' in given)) return undefined;
  const file: Rule = { accepts: (value) => value instanceof Uint8Array, expected: 'the bytes of a .model file' };
  const { source, target } = checked<{ source?: Uint8Array; target?: Uint8Array }>(
    'train', { source: file, target: file }, given, 'tokenizer.',
  );
  if (source && target) return { source, target };
  throw new WasmformerTypeError('train', 'tokenizer must have a type, or a source and a target file');
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
  if (data && !optimizer) throw new WasmformerError('save', 'data is true, but a file without the optimizer holds no sentence pairs');
  return { optimizer, data, metadata: { ...metadata }, signal: given.signal };
}

export function checkChanges(changes: unknown): string {
  if (!isObject(changes)) throw new WasmformerTypeError('change', `the changes must be an object of settings, not ${show(changes)}`);
  return toJson(changes);
}

/** The signal of run() or evaluate(), and JSON of the other options. */
export function checkSignal(place: string, options: unknown): [{ signal?: AbortSignal }, string] {
  return splitOptions<{ signal?: AbortSignal }>(place, { signal }, options);
}
