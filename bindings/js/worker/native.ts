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
  sourceTokens: Pick<NativeCandidate, 'piece' | 'id'>[];
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

/** What is not given is empty; `tsv` stands for sources and targets. */
export interface NativeRunTexts {
  tsv: string;
  sources: string[];
  targets: string[];
  validSources: string[];
  validTargets: string[];
}

/** A run that begins once the tokenizers that untrained() lists have been trained. */
export interface NativeRunPlan {
  untrained(): { sentences: string[]; options: { vocabSize: number; type: string; normalization: string } }[];
  /** `tokenizers`: their .model files. Once only. */
  begin(tokenizers: Uint8Array[]): NativeTrainingRun;
  delete(): void;
}

export interface NativeStepReport {
  loss: number;
  learningRate: number;
  gradientNorm: number;
  targetTokens: number;
}

export interface NativeEvaluation {
  bleu: number;
  chrf: number;
  exactMatch: number;
  translations: string[];
  targetTokens: number;
}

export interface NativeValidation {
  loss: number;
  greedy: NativeEvaluation;
  isBest: boolean;
}

/** result() once step() has returned false, and once only. */
export interface NativeSteps<Result> {
  step(): boolean;
  result(): Result;
  delete(): void;
}

export interface NativeTrainingRun {
  step(): NativeStepReport;
  epochs(): number;
  takeMeanLoss(): number;
  /** JSON. */
  info(): string;
  change(config: string): void;
  /** The first validation pairs: sources, then targets. */
  samples(count: number): string[];
  validate(): NativeSteps<NativeValidation>;
  start(texts: string[], options: NativeOptions): NativeJob;
  evaluate(sources: string[], references: string[], options: NativeOptions): NativeSteps<NativeEvaluation>;
  /** `metadata`: JSON of strings. */
  checkpoint(metadata: string, withTexts: boolean): Uint8Array;
  modelFile(metadata: string): Uint8Array;
  delete(): void;
}

export interface NativeModule {
  /** `request`: JSON of RunRequest in src/train/request.h. Files that are not given are empty. */
  planRun(
    request: string,
    texts: NativeRunTexts,
    model: Uint8Array,
    sourceTokenizer: Uint8Array,
    targetTokenizer: Uint8Array,
    mostBytes: number,
  ): NativeRunPlan;
  /** JSON of RunOptions in src/train/request.h, with all defaults. */
  runOptions(options: string): string;
  /** JSON of the presets, tasks and options of training; see describe_training() in src/train/request.h. */
  describeTraining(): string;
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
