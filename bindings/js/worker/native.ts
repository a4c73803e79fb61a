// What module.cpp, translate.cpp, annotate.cpp and train.cpp declare; tests/js/module-types.ts compares it with the types
// that Emscripten writes. Options cross as JSON, results in the shape that callers get.
import type { PlainError } from '../shared/errors.js';
import type { Plain, Use } from '../shared/protocol.js';
import type { Evaluation, Validation } from '../shared/trainer-types.js';
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

export interface NativeAnnotatedText {
  text: string;
  words: string[];
  classes: string[];
  tags: string[];
}

/** A text with all that is known of it; what it has not is empty. */
export type NativeKnownText = NativeAnnotatedText & { translation: string };

/** Texts, or the text of a file with them. What is not given is empty. */
export interface NativeRunTexts {
  corpora: { file: string; sources: string[]; targets: string[] }[];
  labelled: { file: string; texts: NativeAnnotatedText[] };
  tagged: { file: string; texts: NativeAnnotatedText[] };
  mono: string[];
}

export interface TokenizerOptions {
  vocabSize: number;
  type: string;
  normalization: string;
  hardVocabLimit: boolean;
}

/** What a teacher translates; step() does a part of it, and done() tells how many sources have their targets. */
export interface NativeDistillation {
  step(): boolean;
  done(): number;
  delete(): void;
}

/** A run that begins once the tokenizers that untrained() lists have been trained. */
export interface NativeRunPlan {
  /** The work of the teacher; only with one. */
  distillation(): NativeDistillation;
  /** Once it is done, and before all that follows. */
  take(done: NativeDistillation): void;
  untrained(): { sentences: string[]; options: TokenizerOptions }[];
  /** `tokenizers`: their .model files. Once only. */
  begin(tokenizers: Uint8Array[]): NativeTrainingRun;
  delete(): void;
}

/** What a report of a run tells; `units` are target tokens, or texts of an encoder. */
export interface NativeReport {
  step: number;
  epoch: number;
  loss: number;
  learningRate: number;
  gradientNorm: number;
  units: number;
  stepSeconds: number;
  /** Whether to show what the model makes of the pinned texts. */
  pins: boolean;
  validation?: Omit<Validation, 'samples' | 'annotated'>;
}

/** What the loop has done: a step, a part of a validation, or a report; then it is done. */
export interface NativeRunEvent {
  isDone: boolean;
  stepSeconds?: number;
  report?: NativeReport;
}

export interface NativeLoop {
  options(): { samples: number; attention: boolean; pinned: string[] };
  next(): NativeRunEvent;
  delete(): void;
}

export type NativeEvaluation = Evaluation & { targetTokens: number };

export interface NativeTrainingRun {
  /** JSON. */
  info(): string;
  change(config: string): void;
  /** The first texts of validation. */
  samples(count: number): NativeKnownText[];
  /** What the model can be asked to do. */
  use(): Use | '';
  /** `options`: JSON of RunOptions in src/train/run_options.h. */
  loop(options: string): NativeLoop;
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
    teacher: NativeTranslator | null,
  ): NativeRunPlan;
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
