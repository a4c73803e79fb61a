// The public types of training. Losses are means over target tokens, in nats; keys of a config are those of the model
// file and of the program's --set.
import type {
  Annotation, EncoderInfo, ModelConfig, ModelSource, Translation, WorkerOptions,
} from './types.js';

/** The made-up tasks, with any number of pairs; attention shows how the model solves them. */
export type TaskName = 'copy' | 'reverse' | 'sort' | 'add' | 'dates' | 'roman' | 'pig-latin' | 'chinese-dates' | 'chinese-numbers';

export type PresetName = 'toy' | 'tiny' | 'small' | 'base' | 'big' | 'multi30k-tiny' | 'kyubyong' | 'student-tiny' | 'student-micro';

/** A source sentence and its translation. */
export type Pair = readonly [source: string, target: string];

/** A text and its label, or several if config.multi_label is true. */
export type LabelledText = readonly [labels: string | readonly string[], text: string];

/** The words of a text and their tags, such as O, B-place and I-place. */
export type TaggedText = readonly [words: readonly string[], tags: readonly string[]];

/** How the weights are changed (section 5 of the paper). */
export interface TrainingConfig {
  /** How gradients change the weights (section 5.3). */
  optimizer: 'adam' | 'adamw' | 'sgd';
  /** How the learning rate changes after the warm-up. */
  schedule: 'noam' | 'inverse_sqrt' | 'cosine' | 'constant';
  /** The peak; for noam the factor before d_model^-0.5 (equation 3). */
  learning_rate: number;
  /** Steps in which the rate rises to its peak. */
  warmup_steps: number;
  /** The step at which the cosine schedule reaches 0. */
  decay_steps: number;
  /** Decay of Adam's first moment, or the momentum of sgd. */
  beta1: number;
  /** Decay of Adam's second moment. */
  beta2: number;
  /** Added to the denominator of Adam. */
  epsilon: number;
  /** Share of each weight matrix removed per step, times the rate; for adamw and sgd. */
  weight_decay: number;
  /** The largest gradient norm; larger gradients are scaled down. 0: no limit. */
  clip_norm: number;
  /** Probability spread over the other tokens in the loss (section 5.4). */
  label_smoothing: number;
  /** For a translator: probability that a piece of the training text is split in two, as are its parts (Provilkov et al. 2020). */
  bpe_dropout: number;
  /** For an encoder: share of its input tokens that are hidden in training. */
  word_dropout: number;
  /** For an encoder: weight of the tags' loss beside that of the classes. */
  tag_weight: number;
  /** For an encoder: weights the classes so that rare ones count as much as frequent ones. */
  balance_classes: boolean;
  /** For an encoder without labels: share of tokens to predict (Devlin et al. 2019). */
  mask_rate: number;
  /** For an encoder: steps in which only its heads learn. */
  freeze_steps: number;
  /** Most tokens in a batch, counted on its longer side. */
  batch_tokens: number;
  /** Batches whose gradients are added up before the weights change. Default 1. */
  accumulate: number;
  /** After every step, rounds the weights to values that int8 can store, so that the model learns to work with rounded weights. */
  quantization_aware: boolean;
  /** Seed of the weights, dropout and the order of the data. */
  seed: number;
}

/** What can be set for a new model; the vocabulary decides the rest. */
export type Settings = Partial<
  Omit<ModelConfig, 'classes' | 'tags' | 'source_vocab_size' | 'target_vocab_size' | 'pad_id' | 'bos_id' | 'eos_id'> & TrainingConfig
>;

/** A tokenizer made from the training pairs. */
export interface TokenizerSettings {
  /** 'char': all characters; 'word': the most frequent words; 'bpe' and 'unigram' learn pieces (SentencePiece). */
  type: 'char' | 'word' | 'bpe' | 'unigram';
  /** Pieces, including four special ones. Default 2000, and at most 8000 for 'word'. Not for 'char'. */
  vocabSize?: number;
  /** One vocabulary for both sides. Default true. */
  joint?: boolean;
  /**
   * For 'bpe' and 'unigram': Unicode's compatibility form (default), in which full-width punctuation, as in Chinese,
   * becomes ASCII; or the text as it is, as for the other types.
   */
  normalization?: 'nmt_nfkc' | 'identity';
}

/** Changed copies that are added to the pairs to train on; each number is how many per pair of the text. */
export interface Augmentation {
  /** Two to four pairs as one. */
  join?: number;
  /** Names and numbers replaced by others, the same on both sides. */
  names?: number;
  /** Both sides in lower case, or only their first letter. */
  small?: number;
  /** Both sides in capitals. */
  capitals?: number;
  /** Both sides without their final punctuation mark. */
  unmarked?: number;
}

/** SentencePiece .model files: one for both sides, or one for each. */
export type TokenizerFiles = Uint8Array | { source: Uint8Array; target: Uint8Array };

/**
 * What to train on: exactly one of pairs, tsv and task for a translator; labelled or tagged for an encoder that
 * classifies or tags, or both, example by example, for one that does both; mono for an encoder that fills masks.
 */
export interface TrainingData {
  /** Sentence pairs. */
  pairs?: readonly Pair[];
  /** Lines of source, tab, target; further columns are ignored. */
  tsv?: string;
  /** A made-up task; by default with as many pairs as the preset 'toy' needs to learn it. */
  task?: TaskName | { name: TaskName; pairs?: number };
  /** Labelled texts, or lines of label, tab and text; with multi_label commas separate the labels. */
  labelled?: string | readonly LabelledText[];
  /** Tagged texts, or lines of word, tab and tag with an empty line after each text (CoNLL). */
  tagged?: string | readonly TaggedText[];
  /** Labelled texts to validate on. */
  validLabelled?: string | readonly LabelledText[];
  /** Tagged texts to validate on. */
  validTagged?: string | readonly TaggedText[];
  /** Plain texts, or lines of them, of which a share is hidden and predicted (Devlin et al. 2019). */
  mono?: string | readonly string[];
  /**
   * Pairs to validate on, or how many of the given ones are held back for it, drawn by the seed. Default: a twentieth,
   * at most 500, of what is given; a task makes 200 more.
   */
  validation?: number | readonly Pair[];
}

/** The numbers are the same for every number of threads. */
export interface TrainerOptions extends TrainingData, WorkerOptions {
  /**
   * Sizes and settings to begin with. Default: 'tiny'; for a task 'toy', whose rate falls to 0 by the time it is learned;
   * for an encoder a preset of its own, with much dropout.
   */
  preset?: PresetName;
  /** Settings that differ from the preset. With `from`, only those of training and dropout. */
  config?: Settings;
  /** Default: { type: 'char' } for a task, else { type: 'bpe', vocabSize: 2000 }. With `from`: files only; not for an encoder. */
  tokenizer?: TokenizerSettings | TokenizerFiles;
  /** Changed copies that are added to the pairs. A run that is resumed adds its own again. Not for a task. */
  augment?: Augmentation;
  /** Seed of the weights, order, dropout and the split; the same seed gives the same numbers. Default 1. */
  seed?: number;
  /**
   * A model to fine-tune; an int8 one is trained as floats. The default rate is a constant 1e-4. An encoder
   * begins with the encoder and the tokenizer of a translator or of another encoder.
   */
  from?: ModelSource;
  /** Source and target for the model file, such as 'de-en'. */
  languages?: string;
  /** Further metadata for the model file. */
  metadata?: Record<string, string>;
  /** Aborting rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Data is needed only if the file holds none, and must then be that of the run. */
export interface ResumeOptions extends TrainingData, WorkerOptions, Pick<TrainerOptions, 'signal'> {}

export interface TrainerInfo
  extends Pick<EncoderInfo, 'config' | 'parameters' | 'languages' | 'metadata' | 'build' | 'threads'>,
  Partial<Pick<EncoderInfo, 'classes' | 'tags'>> {
  training: TrainingConfig;
  /** Pairs, or texts of an encoder, used for training and validation, and those skipped: with an empty side, or longer than max_length. */
  trainPairs: number;
  validationPairs: number;
  skippedPairs: number;
  batchesPerEpoch: number;
  /** Roughly how much of the module's memory training takes; settings that cannot fit are refused first. */
  estimatedBytes: number;
  /** Steps and passes already done: 0, unless it was resumed. */
  step: number;
  epoch: number;
  task?: TaskName;
}

/** How far to go from here: the goal reached first ends the run; without one it runs until aborted. */
export interface RunOptions {
  /** Stop after this many steps. */
  steps?: number;
  /** Stop after this many passes over the training pairs. */
  epochs?: number;
  /** Stop after this many minutes. */
  minutes?: number;
  /** Steps between events. Default 10. */
  reportEvery?: number;
  /**
   * Steps between validations. Default: one at the end of each epoch, or of every second, third, … epoch if that takes at
   * least 20 steps. There is also one at the end of the run.
   */
  validateEvery?: number;
  /** How many validation pairs, from the first, an event shows with their translations. Default 5. */
  samples?: number;
  /** Whether samples come with their attention. Default false. */
  attention?: boolean;
  /** Texts to translate greedily, or to classify and tag, with attention, every `pinEvery` steps. */
  pinned?: readonly string[];
  /** Steps between translations of the pinned texts. Default: reportEvery. */
  pinEvery?: number;
  /** Aborting stops within one step and rejects with the signal's reason; run() continues from there. */
  signal?: AbortSignal;
}

export interface Sample {
  source: string;
  reference: string;
  /** Greedy. */
  translation: Translation;
}

export interface AnnotatedSample {
  source: string;
  /** The labels of the text, and the tags of its words; empty if it is trained on none. */
  labels: string[];
  tags: string[];
  /** The same in one string: labels separated by commas, tags by spaces; if there are both, a tab is between them. */
  reference: string;
  annotation: Annotation;
}

export interface Evaluation {
  /** sacreBLEU's: 13a words, or zh where the target of `languages` is zh; mixed case, exp smoothing. */
  bleu: number;
  /** chrF2. */
  chrf: number;
  /** Percent of the translations that equal their references. */
  exactMatch: number;
  translations: string[];
}

/** Scores in percent, as far as they fit the model: bleu and chrf for translators, the next five for encoders. */
export interface Validation extends Partial<Omit<Evaluation, 'translations'>> {
  /** Texts with the right label, or with all of their labels right. */
  accuracy?: number;
  /** The mean F1 of the labels. */
  macroF1?: number;
  /** Words with the right tag. */
  tagAccuracy?: number;
  /** F1 of spans, as conlleval counts it. */
  spanF1?: number;
  /** Texts with the right label and all tags right. */
  frameAccuracy?: number;
  /** Mean of -log p, without dropout and label smoothing. */
  loss: number;
  /** Whether it is the best so far: by loss, or for labels and tags by the mean of accuracy and spanF1 or tagAccuracy. */
  isBest: boolean;
  /** Translators only. */
  samples: Sample[];
  /** Only for encoders that classify or tag. */
  annotated?: AnnotatedSample[];
}

export interface TrainingEvent {
  /** Steps since the beginning of training. */
  step: number;
  /** Passes since then, including the current one in part. */
  epoch: number;
  /** With label smoothing; the mean since the last event. */
  loss: number;
  learningRate: number;
  /** Before clipping. */
  gradientNorm: number;
  /** Target tokens per second since the last event, not counting the time of validation. */
  tokensPerSecond: number;
  /** Time spent on steps by this trainer. */
  seconds: number;
  /** Of the WebAssembly module. */
  memoryBytes: number;
  validation?: Validation;
  /** The translations of `pinned` with the weights after `step`. */
  pinned?: Translation[];
  /** Of an encoder: what it finds in the texts of `pinned`. */
  annotated?: Annotation[];
}

export interface SaveOptions {
  /** With optimizer state, data order and texts, for Trainer.resume and the program's --resume. Default true. */
  optimizer?: boolean;
  /** With the sentence pairs, unless they are a task's. Default: as `optimizer`. */
  data?: boolean;
  /** Further metadata for the file. */
  metadata?: Record<string, string>;
  signal?: AbortSignal;
}

/** What can change during a run; its file stores it. */
export type Changes = Partial<
  Pick<
    TrainingConfig,
    'schedule' | 'learning_rate' | 'warmup_steps' | 'decay_steps' | 'weight_decay' | 'clip_norm' | 'label_smoothing'
  >
>;

export interface EvaluateOptions {
  /** Default 1, which is greedy. */
  beamSize?: number;
  /** As in TranslateOptions. */
  lengthPenalty?: number;
  /** Aborting rejects with the signal's reason. */
  signal?: AbortSignal;
}
