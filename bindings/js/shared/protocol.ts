// The messages between the page and its worker. A ModelRequest is answered by one reply that ends it; the page numbers
// the requests by `id`, and the models in the worker by `key`.
import type {
  Evaluation,
  Pair,
  Sample,
  SaveOptions,
  TrainerInfo,
  TrainingConfig,
  TrainingEvent,
  Validation,
} from './trainer-types.js';
import type {
  AttentionMaps,
  Translation,
  TranslatorInfo,
} from './types.js';

/** Omit, for each member of a union. */
export type DistributiveOmit<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;

export type Bytes = Uint8Array<ArrayBuffer>;

export type ModelData =
  | { kind: 'url'; url: string }
  | { kind: 'path'; path: string }
  | { kind: 'blob'; blob: Blob }
  | { kind: 'bytes'; bytes: Bytes };

interface OfModel {
  id: number;
  key: number;
}

/** The first request of a worker decides the threads. */
export interface LoadRequest extends OfModel {
  type: 'load';
  model: ModelData;
  threads: number;
  /** Whether fewer threads are acceptable. */
  isThreadsLimit: boolean;
  cache: boolean;
  integrity?: string;
}

export interface TranslateRequest extends OfModel {
  type: 'translate';
  texts: string[];
  /** JSON of the options that the module checks. */
  options: string;
  /** Whether 'partial' replies are wanted. */
  partials: boolean;
}

/** Begins a run, or resumes one. */
export interface TrainRequest extends OfModel {
  type: 'train';
  /** JSON of RunRequest in src/train/request.h. */
  options: string;
  texts: { pairs?: readonly Pair[]; tsv?: string; validation?: readonly Pair[] };
  /** Files; without `target` one for both sides. */
  tokenizer?: { source: Uint8Array; target?: Uint8Array };
  model?: ModelData;
  /** Whether to keep `model` in Cache Storage. */
  cache: boolean;
  threads: number;
  isThreadsLimit: boolean;
}

/** RunOptions in src/train/request.h, with its defaults. */
export interface RunSettings {
  steps?: number;
  epochs?: number;
  minutes?: number;
  reportEvery: number;
  validateEvery?: number;
  samples: number;
  attention: boolean;
  pinned: readonly string[];
  pinEvery: number;
}

export interface RunRequest extends OfModel {
  type: 'run';
  /** JSON of RunOptions in src/train/request.h. */
  options: string;
}

export interface EvaluateRequest extends OfModel {
  type: 'evaluate';
  pairs: readonly Pair[];
  /** JSON of the options that the module checks. */
  options: string;
}

export interface ChangeRequest extends OfModel {
  type: 'change';
  /** JSON of settings. */
  changes: string;
}

export interface SaveRequest extends OfModel, Required<Omit<SaveOptions, 'signal'>> {
  type: 'save';
}

/** Converts a folder of another program to a model file, or back. `from`: its files, or where they are. */
export interface ConvertRequest extends OfModel {
  type: 'convert';
  to: 'model' | 'marian' | 'onnx';
  from: ModelData | Record<string, ModelData>;
  precision: 'f32' | 'f16' | 'int8';
  languages: string;
}

/** Ends another request without a reply. */
export interface AbortRequest {
  type: 'abort';
  id: number;
}

/** Frees a model, or stops loading it, and ends all requests to it. */
export interface DisposeRequest {
  type: 'dispose';
  key: number;
}

/** The page has processed an event of this run: training waits for slow consumers. */
export interface AcknowledgeRequest {
  type: 'acknowledge';
  id: number;
}

/** Requests that are answered. */
export type ModelRequest =
  | LoadRequest
  | TranslateRequest
  | TrainRequest
  | RunRequest
  | EvaluateRequest
  | ChangeRequest
  | SaveRequest
  | ConvertRequest;
export type Request = ModelRequest | AcknowledgeRequest | AbortRequest | DisposeRequest;

/** Functions cannot be posted, so the page adds `map`. */
export type PlainMaps = Omit<AttentionMaps, 'map'>;

export interface PlainTranslation extends Omit<Translation, 'attention'> {
  attention?: { encoder: PlainMaps; decoder: PlainMaps; cross: PlainMaps };
}

export interface PlainValidation extends Omit<Validation, 'samples'> {
  samples: (Omit<Sample, 'translation'> & { translation: PlainTranslation })[];
}

export interface PlainEvent extends Omit<TrainingEvent, 'validation' | 'pinned'> {
  validation?: PlainValidation;
  pinned?: PlainTranslation[];
}

export interface PlainError {
  name: string;
  message: string;
  stack?: string;
}

export type Update =
  | { type: 'progress'; id: number; loaded: number; total?: number }
  | { type: 'partial'; id: number; texts: string[] }
  | { type: 'event'; id: number; event: PlainEvent };

/** The reply that ends each kind of request, if it succeeds. */
export interface Results {
  load: { type: 'loaded'; id: number; info: TranslatorInfo };
  translate: { type: 'translated'; id: number; translations: PlainTranslation[] };
  train: { type: 'begun'; id: number; info: TrainerInfo };
  run: { type: 'ran'; id: number };
  evaluate: { type: 'evaluated'; id: number; evaluation: Evaluation };
  change: { type: 'changed'; id: number; training: TrainingConfig };
  save: { type: 'saved'; id: number; file: Blob; step: number };
  convert: { type: 'converted'; id: number; files: Record<string, Blob> };
}
export type Result = Results[keyof Results];

/** `isFatal`: the module cannot be used any more. */
export interface Failure {
  type: 'failed';
  id: number;
  error: PlainError;
  isFatal: boolean;
}

export type Reply = Update | Result | Failure;
