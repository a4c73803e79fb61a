// The public types of the package. Rows are queries, columns are keys; log-probabilities are natural logarithms.

/** Where a model comes from: a URL (or, in Node, a path), or the bytes of a model file. */
export type ModelSource = string | URL | Blob | ArrayBuffer | Uint8Array;

export interface LoadOptions {
  /**
   * Threads to compute with, from 1 to 64. 'auto', the default, takes one for each core, up to 8, in Node and where the
   * page is cross-origin isolated, and else 1. The texts are the same for every number.
   */
  threads?: number | 'auto';
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
  activation: 'relu' | 'gelu' | 'swish';
  norm: 'post' | 'pre';
  positions: 'sinusoidal' | 'learned';
  tie_embeddings: 'all' | 'target' | 'none';
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
  /** The target is forced to start with this. */
  prefix?: string;
  /** Return the attention probabilities of every layer and head. Default false. */
  attention?: boolean;
  /** Return the k most probable tokens of each step. Default 0. */
  topTokens?: number;
  /** Called after each step with the best text so far; for an array, with all of them. */
  onToken?: (partial: Text) => void;
  /** Aborting stops within one step and rejects with the signal's reason; the translator stays usable. */
  signal?: AbortSignal;
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

/** Probabilities of one kind of attention; each row sums to 1. */
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

export interface Translation extends Hypothesis {
  /** The end token last. */
  sourceTokens: SourceToken[];
  /** The nBest - 1 further hypotheses, best first. */
  alternatives: Hypothesis[];
  /** That of the best hypothesis; there if `attention` asked for it and the text is not empty. */
  attention?: Attention;
}
