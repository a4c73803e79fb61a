// Written by bindings/tools/generate-types.mjs. Do not edit.

export interface AnnotatedText {
  text: string;
  words: string[];
  classes: string[];
  tags: string[];
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

export interface Annotations {
  delete(): void;
  result(): Annotation[];
  step(): boolean;
}

export interface Attention {
  encoder: AttentionMaps;
  decoder: AttentionMaps;
  cross: AttentionMaps;
}

export interface AttentionInternals {
  queries: MatrixData;
  keys: MatrixData;
  values: MatrixData;
  output: MatrixData;
  projected: MatrixData;
}

export interface AttentionMaps {
  layers: number;
  heads: number;
  rows: number;
  columns: number;
  data: Float32Array;
}

export interface BackwardPass {
  loss: number;
  parameterNorm: number;
  losses: Float32Array;
  sourceTokens: SourceToken[];
  targetTokens: SourceToken[];
  boxes: BoxGradient[];
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

export interface BoxGradient {
  stack: string;
  part: string;
  layer: number | undefined;
  norm: number;
  parameterNorm: number;
  tokens: Float32Array;
  heads: Float32Array;
}

export interface BudgetFigures {
  steps: number;
  epochs: number;
  secondsPerStep: number;
  seconds: number;
}

export interface Candidate {
  piece: string;
  id: number;
  logProbability: number;
}

export interface DescribedError {
  code: string;
  message: string;
  sentence: string;
  details: Record<string, string | number>;
}

export interface Distillation {
  delete(): void;
  step(): boolean;
}

export interface EncoderAttention {
  encoder: AttentionMaps;
}

export interface Evaluation {
  bleu: number;
  chrf: number;
  exactMatch: number;
  translations: string[];
  targetTokens: number;
}

export interface EvaluationJob {
  delete(): void;
  result(): Evaluation;
  step(): boolean;
}

export interface FeedForwardInternals {
  hidden: MatrixData;
  output: MatrixData;
}

export interface GivenAnnotated {
  file: string;
  texts: AnnotatedText[];
}

export interface GivenPairs {
  file: string;
  sources: string[];
  targets: string[];
}

export interface Hypothesis {
  text: string;
  score: number;
  targetTokens: TargetToken[];
}

export interface Internals {
  encoder: StackInternals;
  decoder: StackInternals;
}

export interface Job {
  delete(): void;
  partial(): string[];
  result(): Translation[];
  step(): boolean;
  stepToken(): boolean;
}

export interface Kept {
  kind: string;
  source: KeptText;
  target: KeptText;
}

export interface KeptText {
  text: string;
  start: number;
  end: number;
}

export interface KnownText {
  text: string;
  translation: string;
  words: string[];
  classes: string[];
  tags: string[];
}

export interface LabelProbability {
  label: string;
  probability: number;
}

export interface LayerInternals {
  selfAttention: AttentionInternals;
  crossAttention: AttentionInternals | undefined;
  afterSelfAttention: MatrixData;
  afterCrossAttention: MatrixData | undefined;
  feedForward: FeedForwardInternals;
  afterFeedForward: MatrixData;
}

export interface Learner {
  annotate(_0: string[], _1: string, _2: string): Annotations;
  backward(_0: string, _1: string): BackwardPass;
  delete(): void;
  start(_0: string[], _1: string, _2: number): Job;
  step(_0: string, _1: string, _2: number): BackwardPass;
  undo(): void;
}

export interface MatrixData {
  rows: number;
  columns: number;
  data: Float32Array;
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

export interface RunEvent {
  isDone: boolean;
  stepSeconds: number | undefined;
  report: RunReport | undefined;
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
  budget: BudgetFigures | undefined;
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

export interface RunSetup {
  begin(_0: Uint8Array[]): TrainingRun;
  delete(): void;
  distillation(): Distillation;
  take(_0: Distillation): void;
  untrained(): TokenizerJob[];
}

export interface RunTexts {
  corpora: GivenPairs[];
  labelled: GivenAnnotated;
  tagged: GivenAnnotated;
  mono: string[];
}

export interface ShownOptions {
  samples: number;
  attention: boolean;
  pinned: string[];
}

export interface SourceToken {
  piece: string;
  id: number;
}

export interface StackInternals {
  tokenEmbedding: MatrixData;
  positions: MatrixData;
  layers: LayerInternals[];
  output: MatrixData;
}

export interface TaggedSpan {
  text: string;
  start: number;
  end: number;
  type: string;
  probability: number;
}

export interface TaggedToken {
  text: string;
  start: number;
  end: number;
  tag: string;
  probability: number;
}

export interface TargetToken {
  piece: string;
  id: number;
  logProbability: number;
  top: Candidate[] | undefined;
}

export interface TokenizerJob {
  sentences: string[];
  options: TokenizerOptions;
}

export interface TokenizerOptions {
  vocabSize: number;
  type: string;
  normalization: string;
  hardVocabLimit: boolean;
}

export interface TrainingLoop {
  delete(): void;
  next(): RunEvent;
  options(): ShownOptions;
}

export interface TrainingRun {
  annotate(_0: string[], _1: string, _2: string): Annotations;
  change(_0: string): void;
  checkpoint(_0: string, _1: boolean): Uint8Array;
  delete(): void;
  evaluate(_0: string[], _1: string[], _2: string): EvaluationJob;
  info(): RunInfo;
  loop(_0: string): TrainingLoop;
  modelFile(_0: string): Uint8Array;
  samples(_0: number): KnownText[];
  start(_0: string[], _1: string, _2: number): Job;
  startGreedy(_0: string[], _1: boolean): Job;
  use(): string;
}

export interface Translation {
  text: string;
  score: number;
  targetTokens: TargetToken[];
  sourceTokens: SourceToken[];
  kept: Kept[];
  alternatives: Hypothesis[];
  attention: Attention | undefined;
  beam: BeamNode[] | undefined;
  internals: Internals | undefined;
}

export interface Translator {
  annotate(_0: string[], _1: string, _2: string): Annotations;
  delete(): void;
  info(): ModelInfo;
  start(_0: string[], _1: string, _2: number): Job;
  tokenize(_0: string[], _1: string): SourceToken[][];
}

export interface ValidationReport {
  loss: number;
  isBest: boolean;
  figures: Record<string, number>;
}

/** The functions of the module. */
export interface NativeModule {
  describe(): object;
  describeException(_0: unknown): DescribedError;
  learner(_0: Translator): Learner;
  load(_0: Uint8Array, _1: string): Translator;
  setUpRun(
    _0: string,
    _1: RunTexts,
    _2: RunTexts,
    _3: Uint8Array,
    _4: Uint8Array,
    _5: Uint8Array,
    _6: number,
    _7: Translator | null,
  ): RunSetup;
  startThreads(_0: number): number;
}
