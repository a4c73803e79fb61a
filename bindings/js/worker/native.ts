// What bindings.cpp declares; tests/js/module-types.ts compares it with the types that Emscripten writes. Options cross
// as JSON, results in the shape that callers get.
import type { Plain } from '../shared/protocol.js';
import type { Evaluation } from '../shared/trainer-types.js';
import type { Translation } from '../shared/types.js';

/** One step per call; result() once step() has returned false, and once only. */
export interface NativeJob<Result> {
  step(): boolean;
  result(): Result;
  delete(): void;
}

export interface NativeTranslation extends NativeJob<Plain<Translation[]>> {
  /** The best text so far of each input. */
  partial(): string[];
}

export interface NativeTranslator {
  start(texts: string[], options: string): NativeTranslation;
  /** JSON of TranslatorInfo, as far as it is about the file. */
  info(): string;
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

export interface TokenizerOptions {
  vocabSize: number;
  type: string;
  normalization: string;
}

/** A run that begins once the tokenizers that untrained() lists have been trained. */
export interface NativeRunPlan {
  untrained(): { sentences: string[]; options: TokenizerOptions }[];
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

export type NativeEvaluation = Evaluation & { targetTokens: number };

export interface NativeValidation {
  loss: number;
  greedy: NativeEvaluation;
  isBest: boolean;
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
  validate(): NativeJob<NativeValidation>;
  start(texts: string[], options: string): NativeTranslation;
  startGreedy(texts: string[], attention: boolean): NativeTranslation;
  evaluate(sources: string[], references: string[], options: string): NativeJob<NativeEvaluation>;
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
  /** JSON of Description in bindings/js/shared/description.ts. */
  describe(): string;
  /** Once, before load(); returns how many there are, which is 1 in a build without threads. */
  startThreads(threads: number): number;
  load(file: Uint8Array): NativeTranslator;
}

/** What Emscripten adds: the type and the what() of a C++ exception, and its release. */
export interface ExceptionHelpers {
  getExceptionMessage(exception: unknown): [type: string, message: string];
  decrementExceptionRefcount(exception: unknown): void;
}

export type WasmModule = NativeModule & ExceptionHelpers;
