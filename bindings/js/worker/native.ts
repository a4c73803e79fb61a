// What module.cpp, translate.cpp, annotate.cpp and train.cpp declare; tests/js/module-types.ts compares it with the types
// that Emscripten writes. Options cross as JSON, results in the shape that callers get.
import type { PlainError } from '../shared/errors.js';
import type { Plain } from '../shared/protocol.js';
import type { Evaluation } from '../shared/trainer-types.js';
import type { Annotation, Translation } from '../shared/types.js';

/** step() does a part of the work; result() once it has returned false, and once only. */
export interface NativeJob<Result> {
  step(): boolean;
  result(): Result;
  delete(): void;
}

export interface NativeTranslation extends NativeJob<Plain<Translation[]>> {
  /** One token of each text in the batch. */
  stepToken(): boolean;
  /** The best text so far of each input. */
  partial(): string[];
}

/** `use`: 'classify' or 'tag'. */
type Annotate = (texts: string[], options: string, use: string) => NativeJob<Plain<Annotation[]>>;

export interface NativeTranslator {
  annotate: Annotate;
  /** `first`: how many texts come before these, for messages. */
  start(texts: string[], options: string, first: number): NativeTranslation;
  /** JSON of TranslatorInfo or EncoderInfo, as far as it is about the file. */
  info(): string;
  delete(): void;
}

/** The text of a file, or its lines as pairs. */
export interface NativeText {
  file: string;
  sources: string[];
  targets: string[];
}

/** What is not given is empty. */
export type NativeRunTexts = Record<'pairs' | 'labelled' | 'tagged' | 'mono', NativeText>;

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

export interface NativeTrainingRun {
  step(): NativeStepReport;
  epochs(): number;
  takeMeanLoss(): number;
  /** JSON. */
  info(): string;
  change(config: string): void;
  /** The first validation pairs: sources, then targets. */
  samples(count: number): string[];
  /** JSON of Validation, without samples. */
  validate(): NativeJob<string>;
  /** `first`: how many texts come before these, for messages. */
  start(texts: string[], options: string, first: number): NativeTranslation;
  annotate: Annotate;
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
    valid: NativeRunTexts,
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
  /** Throws unless the model does what `use` says: 'translate', 'classify' or 'tag'. */
  load(file: Uint8Array, use: string): NativeTranslator;
}

export interface ExceptionHelper {
  /** What a C++ exception says; frees it. */
  describeException(thrown: unknown): Omit<PlainError, 'name' | 'stack'>;
}

/** What Emscripten adds: where the module's stack ends. */
interface StackHelpers {
  stackSave(): number;
  stackRestore(end: number): void;
}

export type WasmModule = NativeModule & ExceptionHelper & StackHelpers;
