// Written by bindings/tools/generate-types.mjs. Do not edit.

export interface Translator {
  start(_0: string[], _1: string, _2: number): Job;
  annotate(_0: string[], _1: string, _2: string): Annotations;
  info(): ModelInfo;
  delete(): void;
}

export interface Job {
  partial(): string[];
  result(): Translation[];
  step(): boolean;
  stepToken(): boolean;
  delete(): void;
}

export interface Annotations {
  result(): Annotation[];
  step(): boolean;
  delete(): void;
}

export interface EvaluationJob {
  step(): boolean;
  result(): Evaluation;
  delete(): void;
}

export interface TrainingLoop {
  next(): RunEvent;
  options(): ShownOptions;
  delete(): void;
}

export interface Distillation {
  step(): boolean;
  delete(): void;
}

export interface RunSetup {
  distillation(): Distillation;
  take(_0: Distillation): void;
  untrained(): TokenizerJob[];
  begin(_0: Uint8Array[]): TrainingRun;
  delete(): void;
}

export interface TrainingRun {
  startGreedy(_0: string[], _1: boolean): Job;
  samples(_0: number): KnownText[];
  info(): RunInfo;
  change(_0: string): void;
  use(): string;
  loop(_0: string): TrainingLoop;
  start(_0: string[], _1: string, _2: number): Job;
  annotate(_0: string[], _1: string, _2: string): Annotations;
  evaluate(_0: string[], _1: string[], _2: string): EvaluationJob;
  checkpoint(_0: string, _1: boolean): Uint8Array;
  modelFile(_0: string): Uint8Array;
  delete(): void;
}

export interface AttentionMaps {
  layers: number;
  heads: number;
  rows: number;
  columns: number;
  data: Float32Array;
}

export interface Attention {
  encoder: AttentionMaps;
  decoder: AttentionMaps;
  cross: AttentionMaps;
}

export interface EncoderAttention {
  encoder: AttentionMaps;
}

export interface Annotation {
  sourceTokens: SourceToken[];
  labels: LabelProbability[] | undefined;
  isTruncated: boolean | undefined;
  isCut: boolean | undefined;
  tokens: TaggedToken[] | undefined;
  spans: TaggedSpan[] | undefined;
  attention: EncoderAttention | undefined;
}

export interface MatrixData {
  rows: number;
  columns: number;
  data: Float32Array;
}

export interface AttentionInternals {
  queries: MatrixData;
  keys: MatrixData;
  values: MatrixData;
  output: MatrixData;
  projected: MatrixData;
}

export interface FeedForwardInternals {
  hidden: MatrixData;
  output: MatrixData;
}

export interface LayerInternals {
  selfAttention: AttentionInternals;
  crossAttention: AttentionInternals | undefined;
  afterSelfAttention: MatrixData;
  afterCrossAttention: MatrixData | undefined;
  feedForward: FeedForwardInternals;
  afterFeedForward: MatrixData;
}

export interface StackInternals {
  tokenEmbedding: MatrixData;
  positions: MatrixData;
  layers: LayerInternals[];
  output: MatrixData;
}

export interface Internals {
  encoder: StackInternals;
  decoder: StackInternals;
}

export interface DescribedError {
  code: string;
  message: string;
  sentence: string;
  details: Record<string, string | number>;
}

export interface ModelInfo {
  config: import('./options.js').ModelConfig;
  parameters: number;
  precision: string;
  languages: string;
  metadata: Record<string, string>;
  classes: string[] | undefined;
  tags: string[] | undefined;
}

export interface RunInfo {
  config: import('./options.js').ModelConfig;
  training: import('./options.js').TrainingConfig;
  parameters: number;
  trainTexts: number;
  validationTexts: number;
  skippedTexts: number;
  batchesPerEpoch: number;
  estimatedBytes: number;
  step: number;
  epoch: number;
  task: string | undefined;
  languages: string;
  metadata: Record<string, string>;
  classes: string[] | undefined;
  tags: string[] | undefined;
}

export interface ValidationReport {
  loss: number;
  isBest: boolean;
  figures: Record<string, number>;
}

export interface RunReport {
  step: number;
  epoch: number;
  loss: number;
  learningRate: number;
  gradientNorm: number;
  units: number;
  stepSeconds: number;
  validation: ValidationReport | undefined;
  pins: boolean;
}

export interface RunEvent {
  isDone: boolean;
  stepSeconds: number | undefined;
  report: RunReport | undefined;
}

export interface ShownOptions {
  samples: number;
  attention: boolean;
  pinned: string[];
}

export interface Evaluation {
  bleu: number;
  chrf: number;
  exactMatch: number;
  translations: string[];
  targetTokens: number;
}

export interface SourceToken {
  piece: string;
  id: number;
}

export interface Candidate {
  piece: string;
  id: number;
  logProbability: number;
}

export interface TargetToken {
  piece: string;
  id: number;
  logProbability: number;
  top: Candidate[] | undefined;
}

export interface BeamNode {
  piece: string;
  id: number;
  logProbability: number;
  parent: number;
  sum: number;
  score: number;
  length: number;
  state: string;
  reason: string | undefined;
  hypothesis: number | undefined;
}

export interface Hypothesis {
  text: string;
  score: number;
  targetTokens: TargetToken[];
}

export interface Translation {
  text: string;
  score: number;
  targetTokens: TargetToken[];
  sourceTokens: SourceToken[];
  alternatives: Hypothesis[];
  attention: Attention | undefined;
  beam: BeamNode[] | undefined;
  internals: Internals | undefined;
}

export interface LabelProbability {
  label: string;
  probability: number;
}

export interface TaggedToken {
  text: string;
  start: number;
  end: number;
  tag: string;
  probability: number;
}

export interface TaggedSpan {
  text: string;
  start: number;
  end: number;
  type: string;
  probability: number;
}

export interface AnnotatedText {
  text: string;
  words: string[];
  classes: string[];
  tags: string[];
}

export interface KnownText {
  text: string;
  translation: string;
  words: string[];
  classes: string[];
  tags: string[];
}

export interface GivenPairs {
  file: string;
  sources: string[];
  targets: string[];
}

export interface GivenAnnotated {
  file: string;
  texts: AnnotatedText[];
}

export interface RunTexts {
  corpora: GivenPairs[];
  labelled: GivenAnnotated;
  tagged: GivenAnnotated;
  mono: string[];
}

export interface TokenizerOptions {
  vocabSize: number;
  type: string;
  normalization: string;
  hardVocabLimit: boolean;
}

export interface TokenizerJob {
  sentences: string[];
  options: TokenizerOptions;
}

/** The functions of the module. */
export interface NativeModule {
  startThreads(_0: number): number;
  load(_0: Uint8Array, _1: string): Translator;
  describe(): object;
  setUpRun(
    _0: string, _1: RunTexts, _2: RunTexts, _3: Uint8Array, _4: Uint8Array, _5: Uint8Array, _6: number, _7: Translator | null,
  ): RunSetup;
  describeException(_0: unknown): DescribedError;
}
