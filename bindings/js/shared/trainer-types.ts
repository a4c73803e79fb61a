// The public types of training. Losses are means over target tokens, in nats; keys of a config are those of the model
// file and of the program's --set.
import type {
  EvaluateFields, KeepName, RequestFields, RunFields, TaskName, TokenizerSettings, TrainingConfig,
} from '../generated/options.js';
import type {
  Annotation, EncoderInfo, ModelConfig, ModelSource, Optional, Translation, WorkerOptions,
} from './types.js';

export type { Augmentation, PresetName, TaskName, TokenizerSettings, TrainingConfig } from '../generated/options.js';

/** A source sentence and its translation. */
export type SentencePair = readonly [source: string, target: string];

/** A text and its label, or several if config.multi_label is true. */
export type LabeledText = readonly [labels: string | readonly string[], text: string];

/** The words of a text and their tags, such as O, B-place and I-place. */
export type TaggedText = readonly [words: readonly string[], tags: readonly string[]];

/** Settings of a new model and its training; the vocabulary and the labels determine the others. */
export type TrainerConfig = Optional<
  Omit<ModelConfig, 'classes' | 'tags' | 'source_vocab_size' | 'target_vocab_size' | 'pad_id' | 'bos_id' | 'eos_id'> & TrainingConfig
>;

/** SentencePiece .model files: one for both sides, or one for each. */
export type TokenizerFiles = Uint8Array | { source: Uint8Array; target: Uint8Array };

/**
 * Data to train on: exactly one of pairs, tsv and task for a translator; labeled or tagged for an encoder that
 * classifies or tags, or both, example by example, for one that does both; text for an encoder that fills masks.
 */
export interface TrainingData {
  /** Sentence pairs; with `weights`, a list of corpora, each a list of pairs. */
  pairs?: readonly SentencePair[] | readonly (readonly SentencePair[])[] | undefined;
  /** Lines of source, tab, target; further columns are ignored. With `weights`, a list of such texts. */
  tsv?: string | readonly string[] | undefined;
  /**
   * A synthetic task; by default with as many pairs as the preset 'toy' needs to learn it. `longest`: train on sources of
   * at most so many characters, and validate on longer ones.
   */
  task?: TaskName | { name: TaskName; pairs?: number; longest?: number } | undefined;
  /** Labeled texts, or lines of label, tab and text; with multi_label commas separate the labels. */
  labeled?: string | readonly LabeledText[] | undefined;
  /** Tagged texts, or lines of word, tab and tag with an empty line after each text (CoNLL). */
  tagged?: string | readonly TaggedText[] | undefined;
  /** Labeled texts to validate on. */
  validLabeled?: string | readonly LabeledText[] | undefined;
  /** Tagged texts to validate on. */
  validTagged?: string | readonly TaggedText[] | undefined;
  /** Plain texts, or lines of them, of which a share is hidden and predicted (Devlin et al. 2019). */
  text?: string | readonly string[] | undefined;
  /** With `teacher`: more sources for it to translate, or lines of them. */
  monolingual?: string | readonly string[] | undefined;
  /**
   * Pairs to validate on, or the number of given ones that are held out for it, drawn by the seed. Default: 5% of them,
   * at most 500. With 0, up to 500 training texts are used. A synthetic task generates 200 more.
   */
  validation?: number | readonly SentencePair[] | undefined;
  /** @deprecated use labeled */
  labelled?: string | readonly LabeledText[] | undefined;
  /** @deprecated use validLabeled */
  validLabelled?: string | readonly LabeledText[] | undefined;
  /** @deprecated use text */
  mono?: string | readonly string[] | undefined;
}

/** The numbers are the same for every number of threads. */
export interface TrainerOptions extends TrainingData, RequestFields, WorkerOptions {
  /** Settings that differ from the preset. With `from`: training, dropout, numbers of layers and decoder_self. */
  config?: TrainerConfig | undefined;
  /**
   * Default: { type: 'char' } for a task, else { type: 'bpe', vocabSize: 2000 }, with a budget more for many texts.
   * With `from`: files only; not for an encoder.
   */
  tokenizer?: TokenizerSettings | TokenizerFiles | undefined;
  /**
   * A model to fine-tune; an int8 one is trained as floats. The default rate is a constant 1e-4. An encoder
   * begins with the encoder and the tokenizer of a translator or of another encoder.
   */
  from?: ModelSource | undefined;
  /**
   * A model whose translations of the sources are learned instead of the targets (Kim and Rush 2016); it translates
   * them all before training begins. Without `tokenizer` or `from` the new model has its tokenizer. Needs pairs to
   * validate on.
   */
  teacher?: ModelSource | undefined;
  /** Aborting rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Pass the original data if the checkpoint was saved without it. */
export interface ResumeOptions
  extends TrainingData, WorkerOptions, Pick<TrainerOptions, 'weights' | 'teacher' | 'teacherBeam' | 'signal'> {}

export interface TrainerInfo
  extends Pick<EncoderInfo, 'config' | 'parameters' | 'languages' | 'metadata' | 'version' | 'build' | 'threads'>,
  Partial<Pick<EncoderInfo, 'classes' | 'tags'>> {
  training: TrainingConfig;
  /** Pairs, or texts of an encoder, to train on. */
  trainTexts: number;
  /** Held out or given for validation. */
  validationTexts: number;
  /** Left out, because a side is empty or longer than max_length. */
  skippedTexts: number;
  /** @deprecated use trainTexts */
  trainPairs: number;
  /** @deprecated use validationTexts */
  validationPairs: number;
  /** @deprecated use skippedTexts */
  skippedPairs: number;
  batchesPerEpoch: number;
  /** Roughly how much of the module's memory training takes; settings that cannot fit are refused first. */
  estimatedBytes: number;
  /** Steps already taken: 0, unless it was resumed. */
  step: number;
  /** Passes over the texts already made, the current one in part. */
  epoch: number;
  task?: TaskName | undefined;
  /** Plan of a run with a budget: steps and passes to expect in its seconds, by the measured speed. */
  budget?: { steps: number; epochs: number; secondsPerStep: number; seconds: number } | undefined;
}

/** Goals of a run, counted from here: the first one reached ends it; without one it runs until aborted. */
export interface RunOptions extends RunFields {
  /** Aborting stops within one step and rejects with the signal's reason; run() continues from there. */
  signal?: AbortSignal | undefined;
}

/** A validation pair with its translation; samples are the first pairs, as many as `samples` says. */
export interface TranslationSample {
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
  /** One per pair, in their order. */
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
  /**
   * True for the best so far: by loss, or for labels and tags by the mean of accuracy and spanF1 or tagAccuracy, each
   * averaged over what is found with the scores of words and what the encoder finds alone.
   */
  isBest: boolean;
  /** Translators only. */
  samples: TranslationSample[];
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
  /** Rate of the last step. */
  learningRate: number;
  /** Norm of the last step's gradient, before clipping. */
  gradientNorm: number;
  /** Target tokens per second since the last event, not counting the time of validation. */
  tokensPerSecond: number;
  /** Time spent on steps by this trainer. */
  seconds: number;
  /** Size of the WebAssembly module's memory, in bytes. */
  memoryBytes: number;
  validation?: Validation;
  /** The translations of `pinned` with the weights after `step`. */
  pinned?: Translation[];
  /** Results of an encoder for the texts of `pinned`. */
  annotated?: Annotation[];
}

export interface SaveOptions {
  /** With optimizer state, data order and texts, for Trainer.resume and the program's --resume. Default true. */
  optimizer?: boolean | undefined;
  /** With the sentence pairs, unless they are a task's. Default: as `optimizer`. */
  data?: boolean | undefined;
  /** Further metadata for the file. */
  metadata?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

/** Settings that can change during a run; its file stores them. */
export type RunChanges = Optional<
  Pick<
    TrainingConfig,
    | 'schedule' | 'learning_rate' | 'warmup_steps' | 'decay_steps' | 'muon_rate'
    | 'weight_decay' | 'clip_norm' | 'label_smoothing'
  >
>;

export interface EvaluateOptions extends Omit<EvaluateFields, 'keep'> {
  /** As in TranslateOptions, without regular expressions. */
  keep?: false | readonly KeepName[] | undefined;
  /** Aborting rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}
