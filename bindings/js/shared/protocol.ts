// The messages between the page and its worker: calls, each with updates before the reply that ends it. The page numbers
// the calls by `id`, and the models in the worker by `key`.
/** Version that the worker's script must have, too. */
export { version } from '../generated/version.js';
import type { PlainError } from './errors.js';
import type { BackwardPass } from './learner-types.js';
import type {
  Evaluation, SentencePair, SaveOptions, TrainerInfo, TrainingConfig, TrainingEvent,
} from './trainer-types.js';
import type {
  Annotation, AttentionMaps, CompiledModule, EncoderInfo, Estimate, ListedModel, RequestSettings, SourceToken,
  Translation, TranslatorInfo,
} from './types.js';

export type { CompiledModule } from './types.js';

export type Bytes = Uint8Array<ArrayBuffer>;

export type ModelData =
  | { kind: 'url'; url: string; request?: RequestSettings; integrity?: string }
  | { kind: 'path'; path: string; integrity?: string }
  | { kind: 'blob'; blob: Blob }
  | { kind: 'bytes'; bytes: Bytes }
  | { kind: 'folder'; path: string }
  | HubData
  | NamedData
  | { kind: 'listed'; list: ModelData; from: string; to: string; architecture?: string; precision: HubData['precision'] };

/** A folder of a host, at `url`, which ends with a slash; in Node what is at `path` comes first. */
export interface HubData {
  kind: 'hub';
  url: string;
  path?: string;
  precision: 'f32' | 'f16' | 'int8';
  request?: RequestSettings;
}

/**
 * A model by its name, such as 'de-en': of an installed package, looked for from the folders `installed`, or else in
 * `folder`, an address that ends with a slash; without it, that of the package on the web.
 */
export interface NamedData {
  kind: 'named';
  name: string;
  installed?: string[];
  folder?: string;
  request?: RequestSettings;
}

export type ListData = Extract<ModelData, { kind: 'listed' }>;

/** In Cache Storage or a folder, or in the store at the other end of a port; `limit` in bytes. */
export interface CacheSettings {
  store?: MessagePort;
  limit?: number;
}

/** Start of a model. The first one in a worker decides the threads and the memory. */
export interface Start {
  model?: ModelData;
  /** How to store `model`, if at all. */
  cache: false | CacheSettings;
  threads: number;
  /** Accept fewer threads. */
  isThreadsLimit: boolean;
  /** Most bytes of the module's memory. */
  maximumMemory?: number;
}

/** Purpose for which a model is loaded. */
export type Use = 'translate' | 'classify' | 'tag';

/** Calls from the page to the worker. `options` is JSON, which the module checks. */
export interface Calls {
  load(wanted: Start & { model: ModelData; integrity?: string; use: Use }): TranslatorInfo | EncoderInfo;
  /** `partials`: whether updates of that type are wanted; `first`: how many texts come before these, for messages. */
  translate(wanted: { texts: string[]; options: string; partials: boolean; first: number }): Plain<Translation[]>;
  /** `options`: those of translate. */
  tokenize(wanted: { texts: string[]; options: string }): SourceToken[][];
  countTokens(wanted: { texts: string[]; options: string }): number[];
  annotate(wanted: { texts: string[]; options: string; use: Use }): Plain<Annotation[]>;
  /** Begins a run, or resumes one. `options`: RunRequest in src/include/wasmformer/training.h. */
  train(wanted: Start & TrainInput): TrainerInfo;
  /** `options`: RunOptions in src/train/run_options.h. */
  run(wanted: { options: string }): void;
  evaluate(wanted: { pairs: readonly SentencePair[]; options: string }): Evaluation;
  change(wanted: { options: string }): TrainingConfig;
  save(wanted: Required<Omit<SaveOptions, 'signal'>>): { file: Blob; step: number };
  /** Copies the model of a translator; `translator`: its key. */
  learn(wanted: { translator: number }): void;
  backward(wanted: { source: string; target: string }): BackwardPass;
  step(wanted: { source: string; target: string; rate: number }): BackwardPass;
  undo(wanted: object): void;
  convert(wanted: Conversion): Record<string, Blob>;
  estimate(wanted: { model: ModelData; cache: false | CacheSettings; integrity?: string }): Estimate;
  list(wanted: ModelData): ListedModel[];
}
export type Method = keyof Calls;
export type Wanted<M extends Method> = Parameters<Calls[M]>[0];
export type Result<M extends Method> = ReturnType<Calls[M]>;

/** A text with classes, or words with tags; what it has not is empty. */
export interface AnnotatedText {
  text: string;
  words: readonly string[];
  classes: readonly string[];
  tags: readonly string[];
}

/** Sentence pairs, as a list or as the text of a file. */
export interface GivenPairs {
  pairs?: readonly SentencePair[];
  tsv?: string;
}

/** A string is the text of a file. There is one corpus, or one for each weight. */
export interface GivenTexts {
  corpora?: readonly GivenPairs[];
  labelled?: string | readonly AnnotatedText[];
  tagged?: string | readonly AnnotatedText[];
  mono?: readonly string[];
}

export interface TrainInput {
  options: string;
  texts: GivenTexts;
  valid: GivenTexts;
  /** Files; without `target` one for both sides. */
  tokenizer?: { source: Uint8Array; target?: Uint8Array };
  /** A model whose translations are learned. */
  teacher?: Pick<Start, 'cache'> & { model: ModelData };
}

/** A folder of another program to a model file, or back. `from`: its files, or where they are. */
export interface Conversion {
  to: 'model' | 'marian' | 'onnx';
  from: ModelData | Record<string, ModelData>;
  precision: 'f32' | 'f16' | 'int8';
  languages: string;
}

export interface Call<M extends Method = Method> {
  type: 'call';
  id: number;
  key: number;
  method: M;
  wanted: Wanted<M>;
}

export type Request =
  | Call
  /** The first message: the folder of the modules if it is not the package's own, and compiled modules by URL. */
  | { type: 'files'; wasm?: string; compiled: Map<string, CompiledModule> }
  /** Ends a call without a reply. */
  | { type: 'abort'; id: number }
  /** The page has processed an event of this run: training waits for slow consumers. */
  | { type: 'acknowledge'; id: number }
  /** Frees a model, or stops loading it, and ends all calls to it. */
  | { type: 'dispose'; key: number };

export type Update =
  | { type: 'progress'; loaded: number; total?: number }
  | { type: 'partial'; texts: string[] }
  | { type: 'event'; event: Plain<TrainingEvent> };

export type Reply =
  /** The answer to the first message: the version of the package that the worker's script is of. */
  | { type: 'ready'; version: string }
  /** A module that this worker has compiled, for workers that start later. */
  | { type: 'compiled'; url: string; module: CompiledModule }
  | Answer;

/** A reply to a call. */
export type Answer =
  | { type: 'update'; id: number; update: Update }
  | { type: 'done'; id: number; result: unknown }
  /** `isFatal`: the module cannot be used any more. */
  | { type: 'failed'; id: number; error: PlainError; isFatal: boolean };

/** The first message of a worker in a browser, which holds this Web Lock until it ends; no event tells the page when that happens. */
export interface Alive {
  type: 'alive';
  lock: string;
}

/** T as it is posted: without functions, which the page adds again (results.ts). */
export type Plain<T> = T extends AttentionMaps ? Omit<T, 'map'> : T extends object ? PlainObject<T> : T;
type PlainObject<T> = T extends ArrayBufferView ? T : { [Key in keyof T]: Plain<T[Key]> };
