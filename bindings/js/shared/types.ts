// The public types of the package. Rows are queries, columns are keys; log-probabilities are natural logarithms.
import type { Build, WorkerOwner } from './load-types.js';
import type { Aligned, AlignmentOptions } from './webpage-types.js';

export type * from './load-types.js';

/** The hyper-parameters of a model, with the names they have in the model file. */
export interface ModelConfig {
  /** Pieces of the source vocabulary. */
  source_vocab_size: number;
  /** Pieces of the target vocabulary. */
  target_vocab_size: number;
  /** Features of a token (section 3.1 of the paper). */
  d_model: number;
  /** Layers of the encoder. */
  encoder_layers: number;
  /** Layers of the decoder; 0 for an encoder that classifies, tags or fills masks. */
  decoder_layers: number;
  /** Attention heads; d_model must be a multiple of it. */
  num_heads: number;
  /** Inner features of the feed-forward network (section 3.3). */
  ffn_dim: number;
  /** Longest sentence in tokens, end token included. */
  max_length: number;
  /** Labels that a whole text can have; 0 for a translator. */
  classes: number;
  /** Tags that a word can have; 0 for a translator. */
  tags: number;
  /** What a classifier reads: the mean over the tokens, or the output at a begin token, which texts then have. */
  pooling: 'mean' | 'first';
  /** The activation of a layer between that and the classes, if there is one. */
  pooler: 'none' | 'tanh' | 'relu';
  /** Whether a text may have several labels or none. */
  multi_label: boolean;
  /** Whether each pair of neighbouring tags is scored too, in a conditional random field (Lafferty et al. 2001). */
  crf: boolean;
  /**
   * How a query q and a key k are scored: q·k/√d_k (Vaswani et al. 2017), q·k or qᵀWk (Luong et al. 2015), or
   * v·tanh(q + k) (Bahdanau et al. 2015). Files without this key have 'scaled_dot'.
   */
  attention: 'scaled_dot' | 'dot' | 'additive' | 'bilinear';
  /** The non-linearity of the feed-forward network. */
  activation: 'relu' | 'gelu' | 'swish';
  /** Layer norm after each sublayer, as in the paper, or before it. */
  norm: 'post' | 'pre';
  /**
   * Sines and cosines of fixed wavelengths: interleaved ('sinusoidal', Vaswani et al. 2017), or all sines before all
   * cosines, with the same wavelengths ('sinusoidal_halves', Hugging Face's Marian) or with wavelengths up to exactly
   * 10000 ('sinusoidal_marian', Marian itself); learned vectors; or rotation of queries and keys ('rotary', Su et al.
   * 2021), the default of models that classify, tag or fill masks.
   */
  positions: 'sinusoidal' | 'learned' | 'sinusoidal_halves' | 'sinusoidal_marian' | 'rotary';
  /** How target tokens see earlier ones: self-attention, or the recurrent cell of Firefox's students (no maps). */
  decoder_self: 'attention' | 'ssru';
  /** Which embeddings also serve as output projection: both, the target's, or none. */
  tie_embeddings: 'all' | 'target' | 'none';
  /** Whether there is a layer norm of the encoder's embeddings with their positions, as in BERT. */
  embedding_norm: boolean;
  /** Whether token embeddings are multiplied by √d_model. Files without this key have true. */
  scale_embedding: boolean;
  /** Whether the output projection has a bias. */
  output_bias: boolean;
  /** Added to the variance in layer norm. */
  norm_epsilon: number;
  /** Share of sublayer outputs and embeddings dropped in training (section 5.4). */
  dropout: number;
  /** Share of attention probabilities dropped in training. */
  attention_dropout: number;
  /** Share of feed-forward activations dropped in training. */
  activation_dropout: number;
  /** The padding token. */
  pad_id: number;
  /** The first input of the decoder. */
  bos_id: number;
  /** The end token. */
  eos_id: number;
}

export interface TranslatorInfo {
  config: ModelConfig;
  /** Trained numbers in the model. */
  parameters: number;
  /** Size of the model file. */
  bytes: number;
  /** How most of the numbers are stored. */
  precision: 'f32' | 'f16' | 'int8';
  /** Source and target as in the file, such as 'de-en'; '' if it does not name them. */
  languages: string;
  /** The file's other metadata: corpus, licence, BLEU … */
  metadata: Record<string, string>;
  build: Build;
  /** Threads that compute, including the worker's own. */
  threads: number;
}

export interface EncoderInfo extends TranslatorInfo {
  /** The labels that a whole text can have; empty for a model that only tags. */
  classes: string[];
  /** The tags that a word can have; empty for a model that only classifies. */
  tags: string[];
}

export interface SamplingOptions {
  /** Divides the logits; above 0. Default 1. */
  temperature?: number;
  /** Draw from the k most probable tokens only; 0, the default, from all. */
  topK?: number;
  /** Draw from the most probable tokens that together reach this probability, in (0, 1]. Default 1. */
  topP?: number;
  /** The same seed draws the same text. Default 1. */
  seed?: number;
}

/** One attention head. */
export interface AttentionHead {
  /** The encoder's self-attention, the decoder's, or the decoder's attention to the source. */
  attention: 'encoder' | 'decoder' | 'cross';
  /** Counted from 0. */
  layer: number;
  /** Counted from 0. */
  head: number;
}

/** `Text` is what is translated: a string, or an array of them. */
export interface TranslateOptions<Text = string> extends AlignmentOptions {
  /** Hypotheses kept at each step; 1 is greedy search. Default 4, and 1 with `sampling`. */
  beamSize?: number;
  /**
   * Alpha of ((5 + n) / 6)^alpha, which divides the score of n tokens; a larger alpha favors longer translations.
   * Default: `length_penalty` in the model's metadata, or else 0.6.
   */
  lengthPenalty?: number;
  /** Hypotheses to return, at most beamSize. Default 1. */
  nBest?: number;
  /** Longest translation in tokens. Default, also for 0: source tokens + 50, within the model's max_length. */
  maxLength?: number;
  /** Draw the tokens instead of searching for the best. */
  sampling?: SamplingOptions;
  /**
   * Forced start of the target: a text, or token ids of the target vocabulary, such as a candidate and the tokens
   * before it. If they end with the end token, they are the whole target.
   */
  prefix?: string | readonly number[];
  /** Positions in sourceTokens, counted from 0, hidden from all attention. At least one must remain. */
  maskedSource?: readonly number[];
  /** Attention heads whose output is set to 0. */
  maskedHeads?: readonly AttentionHead[];
  /** Return the attention probabilities of every layer and head. Default false. */
  attention?: boolean;
  /** Return the k most probable tokens of each step. Default 0. */
  topTokens?: number;
  /** Return everything that beam search kept and dropped. Default false; not with sampling. */
  beamTrace?: boolean;
  /** Return embeddings, queries, keys, values and the residual stream. Default false. */
  internals?: boolean;
  /** Score all target pieces, even if the model has a shortlist (Firefox's student models have one). Default false. */
  fullVocabulary?: boolean;
  /** Called after each step with the best text so far; for an array, with all of them. */
  onToken?: (partial: Text) => void;
  /** Aborting stops within one step and rejects with the signal's reason; the translator stays usable. */
  signal?: AbortSignal;
}

/** The loop yields what onToken would be called with. */
export type StreamOptions = Omit<TranslateOptions, 'onToken'>;

export interface TranslateAllOptions extends StreamOptions {
  /** How many texts are read and then translated together; 1 for a slow source. Default 32. */
  batchSize?: number;
  /**
   * Translators of the same model, each loaded by itself and so with its own worker: batches go to all of them in turn.
   * For pages that are not cross-origin isolated, where a worker has one thread.
   */
  others?: readonly WorkerOwner[];
  /** Texts to skip at the beginning: the index after the last one that was translated before. Default 0. */
  start?: number;
  /** Called for a text that cannot be translated, which is then left out. Without it, the error ends the loop. */
  onError?: (error: Error, index: number) => void;
}

/** A translation, and the place of its text in the source, counted from 0. */
export type IndexedTranslation = Translation & { index: number };

/** A text of several sentences. */
export interface TextTranslation {
  text: string;
  /** In order; `begin` is where the sentence begins in the source, in UTF-16 units. */
  sentences: { begin: number; source: string; translation: Translation }[];
}

export interface SourceToken {
  /** As SentencePiece prints it: '▁' marks the start of a word. */
  piece: string;
  id: number;
}

export interface Candidate {
  piece: string;
  id: number;
  logProbability: number;
}

export interface TargetToken extends Candidate {
  /** The most probable tokens of this step, best first; only with `topTokens`. */
  top?: Candidate[];
}

export interface Hypothesis {
  text: string;
  /** The sum of the tokens' log-probabilities over the length penalty. */
  score: number;
  /** The end token last, unless maxLength cut it off. */
  targetTokens: TargetToken[];
}

/**
 * Probabilities of one kind of attention; each row sums to 1. Columns of masked tokens are 0; masked heads are as they
 * were before their output was dropped.
 */
export interface AttentionMaps {
  /** [layers, heads, rows, columns], the last fastest. */
  data: Float32Array;
  layers: number;
  heads: number;
  rows: number;
  columns: number;
  /** The [rows, columns] of one head, both counted from 0: a view into `data`. */
  map(layer: number, head: number): Float32Array;
}

/** Row i of `decoder` and `cross` is the step that chose targetTokens[i], after the begin token or targetTokens[i - 1]. */
export interface Attention {
  /** source × source */
  encoder: AttentionMaps;
  /** target × target, zero above the diagonal */
  decoder: AttentionMaps;
  /** target × source */
  cross: AttentionMaps;
}

/** A token that beam search considered, in the tree of all of them. */
export interface BeamNode extends Candidate {
  /** Index in Translation.beam, smaller than the node's own; -1 at the root, which is the begin token. */
  parent: number;
  /** Sum of the log-probabilities from the root to here. */
  sum: number;
  /** The sum over the length penalty at this length. */
  score: number;
  /** Target tokens up to here. */
  length: number;
  /**
   * 'kept': in the beam of its step, and extended; 'ended': the end token, or the last token before maxLength, which
   * both finish a hypothesis; 'pruned': considered and dropped.
   */
  state: 'kept' | 'ended' | 'pruned';
  /**
   * Why it was pruned. 'beam': better ones filled the beam; 'score': it ended, but beamSize others ended with better
   * scores; 'finished': the search was over, since no unfinished hypothesis could win.
   */
  reason?: 'beam' | 'score' | 'finished';
  /** Its index in [translation, ...alternatives], if it is the end of one of these. */
  hypothesis?: number;
}

/** [rows, columns], row after row. */
export interface NumberRows {
  data: Float32Array;
  rows: number;
  columns: number;
}

/** One attention of one layer, all heads side by side: [tokens, d_model]. */
export interface AttentionInternals {
  queries: NumberRows;
  /** Rows are source tokens in cross-attention. */
  keys: NumberRows;
  values: NumberRows;
  /** softmax(q kᵀ/√d_k) v before the output projection; 0 in the columns of masked heads. */
  output: NumberRows;
  /** After the output projection W^O: what the residual connection adds. */
  projected: NumberRows;
}

export interface FeedForwardInternals {
  /** After the activation: [tokens, ffn_dim]. */
  hidden: NumberRows;
  /** What the residual connection adds. */
  output: NumberRows;
}

/** The residual stream is taken after each sublayer: with norm 'post' after the norm, with 'pre' the sum. */
export interface LayerInternals {
  selfAttention: AttentionInternals;
  /** Of decoders. */
  crossAttention?: AttentionInternals;
  afterSelfAttention: NumberRows;
  /** Of decoders. */
  afterCrossAttention?: NumberRows;
  feedForward: FeedForwardInternals;
  afterFeedForward: NumberRows;
}

/** The first layer reads tokenEmbedding + positions. */
export interface StackInternals {
  /** Times √d_model. */
  tokenEmbedding: NumberRows;
  positions: NumberRows;
  layers: LayerInternals[];
  /** The output of the stack. */
  output: NumberRows;
}

/** Rows of the encoder are sourceTokens; row i of the decoder is the step that chose targetTokens[i]. */
export interface Internals {
  encoder: StackInternals;
  decoder: StackInternals;
}

export interface Translation extends Hypothesis, Aligned {
  /** The end token last. */
  sourceTokens: SourceToken[];
  /** The nBest - 1 further hypotheses, best first. */
  alternatives: Hypothesis[];
  /** That of the best hypothesis; only with `attention`, and if the text is not empty. */
  attention?: Attention;
  /** The root first, parents before children; only with `beamTrace`, and if the text is not empty. */
  beam?: BeamNode[];
  /** Those of the best hypothesis; only with `internals`, and if the text is not empty. */
  internals?: Internals;
}

export interface AnnotateOptions {
  /** Labels to return, the most probable first; 0, the default, for all. Not for a model that only tags. */
  topLabels?: number;
  /** Return the attention probabilities of every layer and head. Default false. */
  attention?: boolean;
  /** Attention heads of the encoder whose output is set to 0. */
  maskedHeads?: readonly AttentionHead[];
  /**
   * Split texts into words, numbers and other characters, as tagging needs it. Default true; false if spaces separate
   * the words already. Not for a model that only classifies.
   */
  split?: boolean;
  /** Aborting stops within one batch and rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** One text has one result, several have an array of them. */
export interface AnnotateCall<Found> {
  (text: string, options?: AnnotateOptions): Promise<Found>;
  (texts: readonly string[], options?: AnnotateOptions): Promise<Found[]>;
}

export interface LabelProbability {
  label: string;
  probability: number;
}

/** A part of a text: text.slice(start, end), counted in UTF-16 units as JavaScript does. */
export interface TextPart {
  text: string;
  start: number;
  end: number;
}

export interface TaggedToken extends TextPart {
  tag: string;
  probability: number;
}

/** A word tagged B-TYPE (or a first I-TYPE), with all the I-TYPE words that follow it. */
export interface TaggedSpan extends TextPart {
  type: string;
  /** The mean of its words. */
  probability: number;
}

/** What an encoder finds in a text. A model that does both gives labels and tags, whichever is asked for. */
export interface Annotation {
  /** The end token last; those of the first max_length tokens. Empty for an empty text, like all of the following. */
  sourceTokens: SourceToken[];
  /** source × source; only with `attention`, and if the text is not empty. */
  attention?: { encoder: AttentionMaps };
  /** Most probable first. They sum to 1; with multi_label each is independent, and those above 0.5 apply. */
  labels?: LabelProbability[];
  /** Whether the labels come from the first max_length tokens only, since the text is longer. */
  isCut?: boolean;
  /** The words, in order, with the tags of the most probable sequence that the BIO scheme allows. */
  tokens?: TaggedToken[];
  /** Empty if the model's tags are not O, B-TYPE and I-TYPE. */
  spans?: TaggedSpan[];
}
export type Classification = Annotation & Required<Pick<Annotation, 'labels' | 'isCut'>>;
export type Tagging = Annotation & Required<Pick<Annotation, 'tokens' | 'spans'>>;
