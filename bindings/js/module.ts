// What bindings.cpp declares, as TypeScript sees it; tests/js/module-types.ts holds it against the module's own types.

export interface NativeSampling {
  temperature: number;
  topK: number;
  topP: number;
  seed: number;
}

/** In the order of AttentionHead::Kind in src/nn/layers.h, whose numbers cross. */
export const attentionKinds = ['encoder', 'decoder', 'cross'] as const;

export interface NativeHead {
  /** Index in attentionKinds. */
  attention: number;
  layer: number;
  head: number;
}

export interface NativeOptions {
  beamSize: number;
  lengthPenalty: number;
  nBest: number;
  maxLength: number;
  sampling: NativeSampling | undefined;
  prefix: string;
  prefixIds: number[];
  maskedSource: number[];
  maskedHeads: NativeHead[];
  attention: boolean;
  topTokens: number;
  beamTrace: boolean;
  internals: boolean;
}

export interface NativeCandidate {
  piece: string;
  id: number;
  logProbability: number;
}

export interface NativeTargetToken extends NativeCandidate {
  top: NativeCandidate[];
}

export interface NativeHypothesis {
  text: string;
  score: number;
  targetTokens: NativeTargetToken[];
}

export interface NativeAttentionMaps {
  layers: number;
  heads: number;
  rows: number;
  columns: number;
  data: Float32Array;
}

export interface NativeBeamNode extends NativeCandidate {
  parent: number;
  sum: number;
  score: number;
  length: number;
  /** A Fate of src/decode/search.h. */
  fate: number;
  /** -1: none */
  hypothesis: number;
}

export interface NativeNumbers {
  rows: number;
  columns: number;
  data: Float32Array;
}

export interface NativeAttentionInternals {
  queries: NativeNumbers;
  keys: NativeNumbers;
  values: NativeNumbers;
  output: NativeNumbers;
}

export interface NativeLayerInternals {
  selfAttention: NativeAttentionInternals;
  crossAttention: NativeAttentionInternals | undefined;
  afterSelfAttention: NativeNumbers;
  afterCrossAttention: NativeNumbers | undefined;
  afterFeedForward: NativeNumbers;
}

export interface NativeStackInternals {
  tokenEmbedding: NativeNumbers;
  positions: NativeNumbers;
  layers: NativeLayerInternals[];
  output: NativeNumbers;
}

export interface NativeInternals {
  encoder: NativeStackInternals;
  decoder: NativeStackInternals;
}

export interface NativeTranslation extends NativeHypothesis {
  sourceTokens: NativeCandidate[];
  alternatives: NativeHypothesis[];
  encoder: NativeAttentionMaps | undefined;
  decoder: NativeAttentionMaps | undefined;
  cross: NativeAttentionMaps | undefined;
  beam: NativeBeamNode[];
  internals: NativeInternals | undefined;
}

export interface NativeJob {
  step(): boolean;
  partial(): string[];
  result(): NativeTranslation[];
  delete(): void;
}

export interface NativeTranslator {
  start(texts: string[], options: NativeOptions): NativeJob;
  /** The model's Config as JSON. */
  config(): string;
  delete(): void;
}

export interface NativeModule {
  /** Once, before load(); returns how many there are, which is 1 in a build without threads. */
  startThreads(threads: number): number;
  load(file: Uint8Array): NativeTranslator;
  defaultOptions(): NativeOptions;
  defaultSampling(): NativeSampling;
}

/** What Emscripten adds: the type and the what() of a C++ exception, and its release. */
export interface ExceptionHelpers {
  getExceptionMessage(exception: unknown): [type: string, message: string];
  decrementExceptionRefcount(exception: unknown): void;
}

export type WasmModule = NativeModule & ExceptionHelpers;

/** Texts cross as UTF-8. Half a surrogate pair is no Unicode; as in TextEncoder, U+FFFD takes its place. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}
