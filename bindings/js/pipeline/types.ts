// Inputs and outputs of pipelines, as in Transformers.js.
import type { Attention, LoadOptions, WorkerOptions } from '../shared/types.js';
import type { Classifier, Tagger } from '../api/encoders.js';
import type { Translator } from '../api/translator.js';
import type { ignoredGeneration, ignoredOptions } from './ignored.js';
import type { TextStreamer } from './streamer.js';

export type PipelineTask = 'translation' | 'text2text-generation' | 'text-classification' | 'token-classification';

/** Argument of progress_callback; `progress` is in percent, if the size is known. */
export interface PipelineProgress {
  status: 'initiate' | 'progress' | 'done' | 'ready';
  task: PipelineTask;
  file: string;
  loaded?: number;
  total?: number;
  progress?: number;
}

export interface PipelineOptions
  extends WorkerOptions,
  Pick<LoadOptions, 'hubURL' | 'hub' | 'integrity' | 'modelsURL'>,
  Partial<Record<(typeof ignoredOptions)[number], unknown>> {
  progress_callback?: ((progress: PipelineProgress) => void) | undefined;
  /** Always the CPU, by WebAssembly; other devices, such as 'webgpu', only cause a warning. */
  device?: string | undefined;
  /**
   * Precision in which a converted model is stored: 'fp32', 'fp16', or 'int8', which Transformers.js calls
   * 'q8' (default, and also for fewer bits). A model file keeps its numbers.
   */
  dtype?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface GenerationOptions extends Partial<Record<(typeof ignoredGeneration)[number], unknown>> {
  /** Default 4, and 1 with do_sample. */
  num_beams?: number | undefined;
  /** At most num_beams. Default 1. */
  num_return_sequences?: number | undefined;
  /** Tokens, including the end token. */
  max_new_tokens?: number | undefined;
  /** The same, including the start token. */
  max_length?: number | undefined;
  do_sample?: boolean | undefined;
  /** These need do_sample; the defaults are those of Transformers.js. */
  temperature?: number | undefined;
  top_k?: number | undefined;
  top_p?: number | undefined;
  seed?: number | undefined;
  /** Must be the languages of the model, as 'de', 'deu' or 'deu_Latn'. */
  src_lang?: string | undefined;
  tgt_lang?: string | undefined;
  /** Adds `attention` to each output, as in Translation; only with one output per text. */
  output_attentions?: boolean | undefined;
  /** Gets the best text so far after each step; for several inputs, all of them. */
  callback_function?: ((partial: string | string[]) => void) | undefined;
  /** Gets each new part of one text; num_beams is then 1. */
  streamer?: TextStreamer | undefined;
  signal?: AbortSignal | undefined;
}

export interface TranslationOutput {
  translation_text: string;
  attention?: Attention;
}
export interface GenerationOutput {
  generated_text: string;
  attention?: Attention;
}

export interface LabelOutput {
  label: string;
  score: number;
}

export interface ClassificationOptions {
  /** Labels of each text, the most probable first; null for all. Default 1. */
  top_k?: number | null | undefined;
  signal?: AbortSignal | undefined;
}

interface AnyPipeline {
  readonly task: PipelineTask;
  dispose(): Promise<void>;
}

/** With top_k 1 each text has one output; otherwise several texts have a list each. */
export interface ClassificationPipeline extends AnyPipeline {
  (texts: string, options?: ClassificationOptions): Promise<LabelOutput[]>;
  (texts: readonly string[], options?: ClassificationOptions & { top_k?: 1 }): Promise<LabelOutput[]>;
  (texts: readonly string[], options: ClassificationOptions): Promise<LabelOutput[] | LabelOutput[][]>;
  readonly classifier: Classifier;
}

/** A word, or with aggregation_strategy 'simple' a span, which has entity_group instead of entity and index. */
export interface EntityOutput {
  entity?: string;
  entity_group?: string;
  score: number;
  /** Number of the word in its text, counted from 1. */
  index?: number;
  word: string;
  /** Range in the text, [start, end), in UTF-16 units. */
  start: number;
  end: number;
}

export interface TaggingOptions {
  /** Words by themselves (default), or those of a span together. */
  aggregation_strategy?: 'none' | 'simple' | undefined;
  /** Tags of words to leave out. Default ['O']. */
  ignore_labels?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
}

/** Several texts have a list each. */
export interface TaggingPipeline extends AnyPipeline {
  (texts: string, options?: TaggingOptions): Promise<EntityOutput[]>;
  (texts: readonly string[], options?: TaggingOptions): Promise<EntityOutput[][]>;
  readonly tagger: Tagger;
}

/** Call it with one text or several; each has num_return_sequences outputs, one after the other. */
export interface Pipeline<Output> extends AnyPipeline {
  (texts: string | readonly string[], options?: GenerationOptions): Promise<Output[]>;
  readonly translator: Translator;
  /** Only for `new TextStreamer(pipe.tokenizer, …)`. */
  readonly tokenizer: unknown;
}
