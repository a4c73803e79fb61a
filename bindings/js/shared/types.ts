// The public types of the package. Rows are queries, columns are keys; log-probabilities are natural logarithms.

/** Where a model comes from: a URL (or, in Node, a path), or the bytes of a model file. */
export type ModelSource = string | URL | Blob | ArrayBuffer | Uint8Array;

/** A Translator or a Trainer. */
export interface WorkerOwner {
  readonly info: { readonly build: Build; readonly threads: number };
  dispose(): void;
}

/** Where a model runs. */
export interface WorkerOptions {
  /**
   * Threads to compute with, from 1 to 64. 'auto', the default, takes one for each core, up to 8, in Node and where the
   * page is cross-origin isolated, and else 1. The texts are the same for every number.
   */
  threads?: number | 'auto';
  /**
   * Use the worker of this one, with its threads and its memory, instead of an own. Their calls take turns; an error that
   * stops the module stops all of them.
   */
  shareWith?: WorkerOwner;
}

export interface LoadOptions extends WorkerOptions {
  /** Called while the model arrives, in bytes; `total` is missing where the server does not tell. */
  onProgress?: (loaded: number, total?: number) => void;
  /** Aborting ends the download and rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Keep the downloaded model in Cache Storage. Default: true for http(s) URLs where there is such a storage. */
  cache?: boolean;
  /** Refuse any other file: 'sha256-…', 'sha384-…' or 'sha512-…' in base64, as in a script's integrity attribute. */
  integrity?: string;
}

/** A model that load() has kept in this browser; loading its URL again needs no download. */
export interface StoredModel {
  url: string;
  bytes: number;
}

/** The hyper-parameters of a model, with the names they have in the model file. */
export interface ModelConfig {
  source_vocab_size: number;
  target_vocab_size: number;
  d_model: number;
  encoder_layers: number;
  decoder_layers: number;
  num_heads: number;
  ffn_dim: number;
  /** Tokens of a sentence at most, the end token counted. */
  max_length: number;
  /**
   * What a query q and a key k of a head score: q·k/√d_k (Vaswani et al. 2017), q·k or qᵀWk (Luong et al. 2015), or
   * v·tanh(q + k) (Bahdanau et al. 2015). Files that do not tell have 'scaled_dot'.
   */
  attention: 'scaled_dot' | 'dot' | 'additive' | 'bilinear';
  activation: 'relu' | 'gelu' | 'swish';
  norm: 'post' | 'pre';
  /**
   * Sines and cosines of constant lengths of wave: one beside the other ('sinusoidal', Vaswani et al. 2017), or all
   * sines and then all cosines, of the same lengths ('sinusoidal_halves', Hugging Face's Marian) or up to the whole
   * 10000 ('sinusoidal_marian', Marian itself); or trained rows.
   */
  positions: 'sinusoidal' | 'learned' | 'sinusoidal_halves' | 'sinusoidal_marian';
  tie_embeddings: 'all' | 'target' | 'none';
  /** Whether token embeddings count √d_model times. Files that do not tell have true. */
  scale_embedding: boolean;
  output_bias: boolean;
  norm_epsilon: number;
  dropout: number;
  attention_dropout: number;
  activation_dropout: number;
  pad_id: number;
  bos_id: number;
  eos_id: number;
}

/** The builds of the WebAssembly module; the best one that the machine can run is taken. */
export type Build = 'relaxed' | 'simd';

export interface TranslatorInfo {
  config: ModelConfig;
  /** Trained numbers in the model. */
  parameters: number;
  /** Size of the model file. */
  bytes: number;
  /** How most of the numbers are stored. */
  precision: 'f32' | 'f16' | 'int8';
  /** Source and target as the file names them, such as 'de-en'; '' where it does not. */
  languages: string;
  /** What else the file says of itself: corpus, licence, BLEU … */
  metadata: Record<string, string>;
  build: Build;
  /** Threads that compute, the worker's own counted. */
  threads: number;
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

/** One head of the encoder's attention, the decoder's own, or the decoder's to the source; counted from 0. */
export interface AttentionHead {
  attention: 'encoder' | 'decoder' | 'cross';
  layer: number;
  head: number;
}

/** `Text` is what is translated: a string, or an array of them. */
export interface TranslateOptions<Text = string> {
  /** Hypotheses kept at each step; 1 is greedy. Default 4, and 1 with `sampling`. */
  beamSize?: number;
  /** Alpha of ((5 + n) / 6)^alpha, by which the score of n tokens is divided. Default 0.6. */
  lengthPenalty?: number;
  /** Hypotheses to return, at most beamSize. Default 1. */
  nBest?: number;
  /** Target tokens at most. Default: source tokens + 50, within the model's max_length. */
  maxLength?: number;
  /** Draw the tokens instead of searching for the best. */
  sampling?: SamplingOptions;
  /**
   * The target is forced to start with this: a text, or token ids of the target vocabulary, such as a candidate and
   * those before it. Where the last of them is the end token, they are the whole target.
   */
  prefix?: string | readonly number[];
  /** Positions in sourceTokens, counted from 0, that no attention looks at. At least one must be left. */
  maskedSource?: readonly number[];
  /** Heads that are switched off: their part of the concatenation is zero. */
  maskedHeads?: readonly AttentionHead[];
  /** Return the attention probabilities of every layer and head. Default false. */
  attention?: boolean;
  /** Return the k most probable tokens of each step. Default 0. */
  topTokens?: number;
  /** Return the tree of what the search kept and dropped. Default false; not with sampling. */
  beamTrace?: boolean;
  /** Return the numbers inside the model: embeddings, queries, keys, values, residual streams. Default false. */
  internals?: boolean;
  /** Called after each step with the best text so far; for an array, with all of them. */
  onToken?: (partial: Text) => void;
  /** Aborting stops within one step and rejects with the signal's reason; the translator stays usable. */
  signal?: AbortSignal;
}

/** The loop takes what onToken would be called with. */
export type StreamOptions = Omit<TranslateOptions, 'onToken'>;

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
  /** The most probable tokens of this step, best first; there if `topTokens` asked for them. */
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

/**
 * Row i of `decoder` and `cross` is the step that chose targetTokens[i]; its input was the begin token or
 * targetTokens[i - 1].
 */
export interface Attention {
  /** source × source */
  encoder: AttentionMaps;
  /** target × target, zero above the diagonal */
  decoder: AttentionMaps;
  /** target × source */
  cross: AttentionMaps;
}

/** A token that the search considered, in the tree of all of them. */
export interface BeamNode extends Candidate {
  /** Index in Translation.beam, smaller than the node's own; -1 at the root, which is the begin token. */
  parent: number;
  /** Of log-probabilities from the root. */
  sum: number;
  /** The sum over the length penalty at this length. */
  score: number;
  /** Target tokens up to here. */
  length: number;
  /**
   * 'kept': in the beam of its step, and extended; 'ended': the end token, or where maxLength cut a hypothesis off,
   * which counts as a finished hypothesis; 'pruned': it was considered and goes no further.
   */
  state: 'kept' | 'ended' | 'pruned';
  /**
   * Why it was pruned. 'beam': better ones filled the beam; 'score': it ended, but beamSize others ended with better
   * scores; 'finished': the search was over, since nothing that lived could still win.
   */
  reason?: 'beam' | 'score' | 'finished';
  /** Its place in [translation, ...alternatives], if it is the end of one of these. */
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
}

/** The residual stream is taken after each sublayer: with norm 'post' after the norm, with 'pre' the sum. */
export interface LayerInternals {
  selfAttention: AttentionInternals;
  /** Of decoders. */
  crossAttention?: AttentionInternals;
  afterSelfAttention: NumberRows;
  /** Of decoders. */
  afterCrossAttention?: NumberRows;
  afterFeedForward: NumberRows;
}

/** The first layer reads tokenEmbedding + positions. */
export interface StackInternals {
  /** Times √d_model. */
  tokenEmbedding: NumberRows;
  positions: NumberRows;
  layers: LayerInternals[];
  /** What leaves the stack. */
  output: NumberRows;
}

/** Rows of the encoder are sourceTokens; row i of the decoder is the step that chose targetTokens[i]. */
export interface Internals {
  encoder: StackInternals;
  decoder: StackInternals;
}

export interface Translation extends Hypothesis {
  /** The end token last. */
  sourceTokens: SourceToken[];
  /** The nBest - 1 further hypotheses, best first. */
  alternatives: Hypothesis[];
  /** That of the best hypothesis; there if `attention` asked for it and the text is not empty. */
  attention?: Attention;
  /** The root first, parents before children; there if `beamTrace` asked for it and the text is not empty. */
  beam?: BeamNode[];
  /** Those of the best hypothesis; there if `internals` asked for them and the text is not empty. */
  internals?: Internals;
}
