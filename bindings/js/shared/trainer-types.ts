// The public types of training. Losses are means over target tokens, in nats; keys of a config are those of the model
// file and of the program's --set.
import type { ModelConfig, ModelSource, Translation, WorkerOptions } from './types.js';

/** The made-up tasks: pairs without end, whose attention shows how they are solved. */
export type TaskName = 'copy' | 'reverse' | 'sort' | 'add' | 'dates' | 'roman' | 'pig-latin';

export type PresetName = 'toy' | 'tiny' | 'small' | 'base' | 'big' | 'multi30k-tiny' | 'kyubyong';

/** A source sentence and its translation. */
export type Pair = readonly [source: string, target: string];

/** How the weights are changed (section 5 of the paper). */
export interface TrainingConfig {
  optimizer: 'adam' | 'adamw' | 'sgd';
  schedule: 'noam' | 'inverse_sqrt' | 'cosine' | 'constant';
  /** The peak; for noam the factor before d_model^-0.5 (equation 3). */
  learning_rate: number;
  warmup_steps: number;
  /** Where the cosine schedule reaches 0. */
  decay_steps: number;
  /** The momentum of sgd. */
  beta1: number;
  beta2: number;
  epsilon: number;
  /** Of adamw and sgd. */
  weight_decay: number;
  /** Gradients longer than this are shortened to it; 0: none is. */
  clip_norm: number;
  label_smoothing: number;
  /** Tokens of a batch at most, of its longer side. */
  batch_tokens: number;
  seed: number;
}

/** What may be set of a new model; the vocabulary decides the rest. */
export type Settings = Partial<
  Omit<ModelConfig, 'source_vocab_size' | 'target_vocab_size' | 'pad_id' | 'bos_id' | 'eos_id'> & TrainingConfig
>;

/** SentencePiece pieces learnt from the training pairs: 'char' and 'word' count, 'bpe' and 'unigram' are trained. */
export interface TokenizerSettings {
  type: 'char' | 'word' | 'bpe' | 'unigram';
  /** Pieces at most ('word') or wanted ('bpe', 'unigram'), four special ones counted. Default 2000. Not for 'char'. */
  vocabSize?: number;
  /** One vocabulary for both sides. Default true. */
  joint?: boolean;
  /**
   * Of 'bpe' and 'unigram': Unicode's compatibility form (default), in which full-width punctuation as that of Chinese
   * becomes ASCII's; or the text as it is, as the other types take it.
   */
  normalization?: 'nmt_nfkc' | 'identity';
}

/** SentencePiece .model files: one for both sides, or one each. */
export type TokenizerFiles = Uint8Array | { source: Uint8Array; target: Uint8Array };

/** Where the sentence pairs come from: exactly one of the three. */
export interface TrainingData {
  pairs?: readonly Pair[];
  /** Lines of source, tab, target; further columns are left out. */
  tsv?: string;
  /** A made-up task; as many pairs as the preset 'toy' takes to learn it, or as asked for. */
  task?: TaskName | { name: TaskName; pairs?: number };
  /**
   * Pairs to validate on, or how many of the given are kept for it, drawn by the seed. Default: a twentieth, at most
   * 500, of pairs and of tsv; 200 further ones of a task.
   */
  validation?: number | readonly Pair[];
}

/** The numbers are the same for every number of threads. */
export interface TrainerOptions extends TrainingData, WorkerOptions {
  /** Sizes and settings to begin with. Default: 'tiny'; for a task 'toy', whose rate falls to 0 when it is learnt. */
  preset?: PresetName;
  /** Changes single settings of the preset. With `from`, those of training and dropout only. */
  config?: Settings;
  /** Default: the characters, for a task; else { type: 'bpe', vocabSize: 2000 }. Not with `from`. */
  tokenizer?: TokenizerSettings | TokenizerFiles;
  /** Of weights, order, dropout and the split; the same seed gives the same numbers. Default 1. */
  seed?: number;
  /** A model to fine-tune, int8 ones too: they are trained from what their weights stand for. Its rate: constant, 1e-4. */
  from?: ModelSource;
  /** Source and target as the model file is to name them, such as 'de-en'. */
  languages?: string;
  /** What else the model file is to say of itself. */
  metadata?: Record<string, string>;
  /** Aborting rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Data is only needed where the file holds none, and must then be that of the run. */
export interface ResumeOptions extends TrainingData, WorkerOptions {
  signal?: AbortSignal;
}

export interface TrainerInfo {
  config: ModelConfig;
  training: TrainingConfig;
  parameters: number;
  /** Pairs that are trained and validated on, and those left out: an empty side, or longer than max_length. */
  trainPairs: number;
  validationPairs: number;
  skippedPairs: number;
  batchesPerEpoch: number;
  /** What training takes of the module's memory, about; settings that cannot fit are refused before it is taken. */
  estimatedBytes: number;
  /** Steps and passes that the run has behind it: 0, unless it was resumed. */
  step: number;
  epoch: number;
  task?: TaskName;
  languages: string;
  /** What else the file says of itself. */
  metadata: Record<string, string>;
  build: 'relaxed' | 'simd';
  threads: number;
}

/** How far to go from here; without any of the three until aborted. The first that is reached ends the run. */
export interface RunOptions {
  steps?: number;
  /** Passes over the training pairs. */
  epochs?: number;
  minutes?: number;
  /** Steps between events. Default 10. */
  reportEvery?: number;
  /** Steps between validations. Default: one at the end of each epoch. There is one at the end of the run too. */
  validateEvery?: number;
  /** Validation pairs, from the first, whose translations an event shows. Default 5. */
  samples?: number;
  /** Whether samples come with their attention. Default false. */
  attention?: boolean;
  /** Texts to translate greedily, with attention, every `pinEvery` steps. */
  pinned?: readonly string[];
  /** Default: reportEvery. */
  pinEvery?: number;
  /** Aborting stops within one step and rejects with the signal's reason; run() goes on from there. */
  signal?: AbortSignal;
}

export interface Sample {
  source: string;
  reference: string;
  /** Greedy. */
  translation: Translation;
}

export interface Evaluation {
  /** sacreBLEU's: 13a words, or zh where the target of `languages` is zh; mixed case, exp smoothing. */
  bleu: number;
  /** chrF2. */
  chrf: number;
  /** Percent of the translations that are their references. */
  exactMatch: number;
  translations: string[];
}

export interface Validation extends Omit<Evaluation, 'translations'> {
  /** Of -log p, without dropout and smoothing. */
  loss: number;
  /** Whether this is the lowest loss so far. */
  isBest: boolean;
  samples: Sample[];
}

export interface TrainingEvent {
  /** Steps since the beginning of training, as are the passes, with the part of the present one. */
  step: number;
  epoch: number;
  /** Label-smoothed, since the last event. */
  loss: number;
  learningRate: number;
  /** Before clipping. */
  gradientNorm: number;
  /** Target tokens trained on, since the last event; validation is not counted. */
  tokensPerSecond: number;
  /** Spent on steps by this trainer. */
  seconds: number;
  /** Of the WebAssembly module. */
  memoryBytes: number;
  validation?: Validation;
  /** The translations of `pinned`, by the weights after `step`. */
  pinned?: Translation[];
}

export interface SaveOptions {
  /** With optimizer state, data order and texts, for Trainer.resume and the program's --resume. Default true. */
  optimizer?: boolean;
  /** With the sentence pairs, unless they are of a task. Default: as `optimizer`. */
  data?: boolean;
  /** To be kept in the file's metadata. */
  metadata?: Record<string, string>;
  signal?: AbortSignal;
}

/** What may change on the way; the file of the run remembers it. */
export type Changes = Partial<
  Pick<
    TrainingConfig,
    'schedule' | 'learning_rate' | 'warmup_steps' | 'decay_steps' | 'weight_decay' | 'clip_norm' | 'label_smoothing'
  >
>;

export interface EvaluateOptions {
  /** Default 1, which is greedy. */
  beamSize?: number;
  lengthPenalty?: number;
  signal?: AbortSignal;
}
