// The messages between the client and its worker. Every request but 'abort' is answered by one reply that ends it.
import type {
  AttentionHead,
  AttentionMaps,
  BeamNode,
  Hypothesis,
  Internals,
  SamplingOptions,
  SourceToken,
  TranslatorInfo,
} from './types.js';

export type Bytes = Uint8Array<ArrayBuffer>;

export type ModelData =
  | { kind: 'url'; url: string }
  | { kind: 'path'; path: string }
  | { kind: 'blob'; blob: Blob }
  | { kind: 'bytes'; bytes: Bytes };

export interface LoadRequest {
  type: 'load';
  id: number;
  model: ModelData;
  threads: number;
  /** Whether fewer threads do as well. */
  isThreadsLimit: boolean;
  cache: boolean;
  integrity?: string;
}

/** Options that were checked; those left out take the defaults of the C++ side. */
export interface SearchOptions {
  beamSize?: number;
  lengthPenalty?: number;
  nBest?: number;
  maxLength?: number;
  sampling?: SamplingOptions;
  prefix?: string | readonly number[];
  maskedSource?: readonly number[];
  maskedHeads?: readonly AttentionHead[];
  attention?: boolean;
  topTokens?: number;
  beamTrace?: boolean;
  internals?: boolean;
}

export interface TranslateRequest {
  type: 'translate';
  id: number;
  texts: string[];
  options: SearchOptions;
  /** Whether 'partial' replies are wanted. */
  partials: boolean;
}

/** Ends another request without a reply. */
export interface AbortRequest {
  type: 'abort';
  id: number;
}

export type Request = LoadRequest | TranslateRequest | AbortRequest;

/** Functions do not cross, so `map` is put on at the client. */
export type PlainMaps = Omit<AttentionMaps, 'map'>;

export interface PlainTranslation extends Hypothesis {
  sourceTokens: SourceToken[];
  alternatives: Hypothesis[];
  attention?: { encoder: PlainMaps; decoder: PlainMaps; cross: PlainMaps };
  beam?: BeamNode[];
  internals?: Internals;
}

export interface PlainError {
  name: string;
  message: string;
  stack?: string;
}

export type Update =
  | { type: 'progress'; id: number; loaded: number; total?: number }
  | { type: 'partial'; id: number; texts: string[] };

/** The reply that ends each kind of request, if it succeeds. */
export interface Results {
  load: { type: 'loaded'; id: number; info: TranslatorInfo };
  translate: { type: 'translated'; id: number; translations: PlainTranslation[] };
}
export type Result = Results[keyof Results];

/** `isFatal`: the module is in no state to go on. */
export interface Failure {
  type: 'failed';
  id: number;
  error: PlainError;
  isFatal: boolean;
}

export type Reply = Update | Result | Failure;
