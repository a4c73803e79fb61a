// The public types of the package. Rows are queries, columns are keys; log-probabilities are natural logarithms.
import type { AnnotateFields, KeepName, ModelConfig, TranslateFields } from '../generated/options.js';
import type { WasmBuild, WorkerOwner } from './load-types.js';
import type { KeptPart, TextPart } from './text-parts.js';
import type { WithAlignment, AlignmentOptions } from './webpage-types.js';

export type * from './text-parts.js';
export type { AttentionHead, GlossaryTerm, KeepName, ModelConfig, SamplingOptions } from '../generated/options.js';
export type * from './load-types.js';

export interface TranslatorInfo {
  config: ModelConfig;
  /** Trained numbers in the model. */
  parameters: number;
  /** Size of the model file. */
  bytes: number;
  /** Precision of most numbers in the file; those of 'int4' are int8 in memory. */
  precision: 'f32' | 'f16' | 'int8' | 'int4';
  /** Source and target as in the file, such as 'de-en'; '' if it does not name them. */
  languages: string;
  /** The file's other metadata: corpus, license, BLEU … */
  metadata: Record<string, string>;
  /** The version of the package, for reports of errors. */
  version: string;
  build: WasmBuild;
  /** Threads that compute, including the worker's own. */
  threads: number;
}

export interface EncoderInfo extends TranslatorInfo {
  /** The labels that a whole text can have; empty for a model that only tags. */
  classes: string[];
  /** The tags that a word can have; empty for a model that only classifies. */
  tags: string[];
}

/** `Text` is what is translated: a string, or an array of them. */
export interface TranslateOptions<Text = string>
  extends Omit<TranslateFields, 'keep'>, AlignmentOptions {
  /**
   * Kinds of text that are copied instead of translated, and regular expressions for more; false for none. The default
   * is every kind, if the model has placeholder tokens or its metadata says so. `kept` of the result gives the copied
   * parts and their positions.
   */
  keep?: false | readonly (KeepName | RegExp)[] | undefined;
  /** Called after each step with the best text so far; for an array, with all of them. */
  onPartial?: ((partial: Text) => void) | undefined;
  /** Aborting stops within one step and rejects with the signal's reason; the translator stays usable. */
  signal?: AbortSignal | undefined;
  /** @deprecated use onPartial */
  onToken?: ((partial: Text) => void) | undefined;
}

/** The loop yields what onPartial would be called with. */
export type StreamOptions = Omit<TranslateOptions, 'onPartial' | 'onToken'>;

export interface TranslateAllOptions extends StreamOptions {
  /** Number of texts that are read and then translated together; 1 for a slow source. Default 32. */
  batchSize?: number | undefined;
  /**
   * Translators of the same model, each loaded by itself and so with its own worker: batches go to all of them in turn.
   * For pages that are not cross-origin isolated, where a worker has one thread.
   */
  workers?: readonly WorkerOwner[] | undefined;
  /** Texts to skip at the beginning: the index after the last one that was translated before. Default 0. */
  startIndex?: number | undefined;
  /** Called for a text that cannot be translated, which is then left out. Without it, the error ends the loop. */
  onError?: ((error: Error, index: number) => void) | undefined;
  /** @deprecated use workers */
  others?: readonly WorkerOwner[] | undefined;
  /** @deprecated use startIndex */
  start?: number | undefined;
}

/** A translation, and the index of its text in the source, counted from 0. */
export type IndexedTranslation = Translation & { index: number };

/** A sentence of a text; `begin` is where it begins in the source, in UTF-16 units. */
export interface TextSentence<Found = Translation> {
  begin: number;
  source: string;
  translation: Found;
}

/** A text of several sentences. */
export interface TextTranslation<Found = Translation> {
  text: string;
  /** In order. */
  sentences: TextSentence<Found>[];
}

export interface StreamTextOptions extends StreamOptions, Pick<TranslateAllOptions, 'workers'> {
  /** How many sentences are translated together; the first batches are smaller, so that the first one comes soon. Default 16. */
  batchSize?: number;
}

/** A part of a translated text: one sentence. The parts, joined, are the text that translateText() returns. */
export interface StreamedSentence {
  /** The translation with the white space before it, and after the last one. */
  text: string;
  /** Missing if the whole text is white space. */
  sentence?: TextSentence;
  /** From 0. */
  index: number;
  /** How many sentences the text has. */
  of: number;
}

/** As in TranslateOptions. */
export type TokenizeOptions = Pick<TranslateOptions, 'keep' | 'signal'>;

/** A token of the source, as the model reads it. */
export interface SourceToken {
  /** As SentencePiece prints it: '▁' marks the start of a word. */
  piece: string;
  /** Its index in the vocabulary, from 0. */
  id: number;
}

/** A token that a step could choose. */
export interface Candidate {
  piece: string;
  /** Its index in the target vocabulary, from 0. */
  id: number;
  /** Natural logarithm of its probability given the source and the tokens before it; at most 0. */
  logProbability: number;
}

/** A token of a translation. */
export interface TargetToken extends Candidate {
  /** The most probable tokens of this step, best first; only with `topTokens`. */
  top?: Candidate[];
}

/** A translation among several. */
export interface Hypothesis {
  /** The tokens as text, without the tokenizer's marks; kept parts are put back. */
  text: string;
  /** The sum of the tokens' log-probabilities over the length penalty; at most 0, and closer to 0 is better. */
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

/** Values of tokens, [rows, columns], row after row. Each row is a token, unless a field says otherwise. */
export interface Matrix {
  data: Float32Array;
  rows: number;
  columns: number;
}

/**
 * One attention of one layer, all heads side by side: [tokens, d_model]; with a `key_dim`, queries and keys are [tokens,
 * num_heads · key_dim].
 */
export interface AttentionInternals {
  queries: Matrix;
  /** Rows are source tokens in cross-attention. */
  keys: Matrix;
  /** Rows as those of `keys`. */
  values: Matrix;
  /** softmax(q kᵀ/√d_k) v before the output projection; 0 in the columns of masked heads. */
  output: Matrix;
  /** After the output projection W^O; the residual connection adds it. */
  projected: Matrix;
}

export interface FeedForwardInternals {
  /** After the activation: [tokens, ffn_dim]. */
  hidden: Matrix;
  /** Output of the sublayer, which the residual connection adds. */
  output: Matrix;
}

/** The residual stream is taken after each sublayer: with norm 'post' after the norm, with 'pre' the sum. */
export interface LayerInternals {
  selfAttention: AttentionInternals;
  /** Decoders only. */
  crossAttention?: AttentionInternals;
  afterSelfAttention: Matrix;
  /** Decoders only. */
  afterCrossAttention?: Matrix;
  feedForward: FeedForwardInternals;
  afterFeedForward: Matrix;
}

/** The first layer reads tokenEmbedding + positions. */
export interface StackInternals {
  /** Times √d_model. */
  tokenEmbedding: Matrix;
  /** One row per token; zeros in models with rotary positions, which add none. */
  positions: Matrix;
  layers: LayerInternals[];
  /** The output of the stack. */
  output: Matrix;
}

/** Rows of the encoder are sourceTokens; row i of the decoder is the step that chose targetTokens[i]. */
export interface Internals {
  encoder: StackInternals;
  decoder: StackInternals;
}

export interface Translation extends Hypothesis, WithAlignment {
  /** The end token last. */
  sourceTokens: SourceToken[];
  /** Copied parts, in the order of the source. */
  kept: KeptPart[];
  /** The nBest - 1 further hypotheses, best first. */
  alternatives: Hypothesis[];
  /** Attention of the best hypothesis; only with `attention`, and if the text is not empty. */
  attention?: Attention;
  /** The root first, parents before children; only with `beamTrace`, and if the text is not empty. */
  beam?: BeamNode[];
  /** Internals of the best hypothesis; only with `internals`, and if the text is not empty. */
  internals?: Internals;
}

export interface AnnotateOptions extends AnnotateFields {
  /** Aborting stops within one batch and rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** One text has one result, several have an array of them. */
export interface AnnotateMethod<Found> {
  (text: string, options?: AnnotateOptions): Promise<Found>;
  (texts: readonly string[], options?: AnnotateOptions): Promise<Found[]>;
}

export interface LabelProbability {
  label: string;
  /** From 0 to 1: a softmax over the labels or, with multi_label, a sigmoid of this one. */
  probability: number;
}

export interface TaggedToken extends TextPart {
  tag: string;
  /** From 0 to 1: the marginal of the conditional random field or, without one, a softmax over the tags. */
  probability: number;
}

/** A word tagged B-TYPE (or a first I-TYPE), with all the I-TYPE words that follow it. */
export interface TaggedSpan extends TextPart {
  type: string;
  /** The mean of its words. */
  probability: number;
}

/** Results of an encoder for a text. A model that classifies and tags gives both, whichever is asked for. */
export interface Annotation {
  /** The end token last; those of the first max_length tokens. Empty for an empty text, like all of the following. */
  sourceTokens: SourceToken[];
  /** source × source; only with `attention`, and if the text is not empty. */
  attention?: { encoder: AttentionMaps };
  /** Most probable first. They sum to 1; with multi_label each is independent, and those above 0.5 apply. */
  labels?: LabelProbability[];
  /** True if the labels come from the first max_length tokens only, since the text is longer. */
  isTruncated?: boolean;
  /** @deprecated the same as isTruncated */
  isCut?: boolean;
  /** The words, in order, with the tags of the most probable sequence that the BIO scheme allows. */
  tokens?: TaggedToken[];
  /** Empty if the model's tags are not O, B-TYPE and I-TYPE. */
  spans?: TaggedSpan[];
}
export type Classification = Annotation & Required<Pick<Annotation, 'labels' | 'isTruncated' | 'isCut'>>;
export type Tagging = Annotation & Required<Pick<Annotation, 'tokens' | 'spans'>>;
