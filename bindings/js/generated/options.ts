// Written by bindings/tools/generate-types.mjs. Do not edit.
// Length: every option of the package.

/** The sizes and settings that a run can begin with. */
export type PresetName = 'toy' | 'tiny' | 'small' | 'base' | 'big' | 'multi30k-tiny' | 'kyubyong' | 'student-tiny' | 'student-micro';

/** The made-up tasks, with any number of pairs; attention shows how the model solves them. */
export type TaskName = 'copy' | 'reverse' | 'sort' | 'add' | 'dates' | 'roman' | 'pig-latin' | 'chinese-dates' | 'chinese-numbers';

/** The hyper-parameters of a model, with the names they have in the model file. */
export interface ModelConfig {
  /** Pieces of the source vocabulary; the tokenizer decides it. */
  source_vocab_size: number;
  /** Pieces of the target vocabulary; the tokenizer decides it. */
  target_vocab_size: number;
  /** Features of a token (section 3.1). */
  d_model: number;
  /** Layers of the encoder. */
  encoder_layers: number;
  /** Layers of the decoder; 0 for an encoder that classifies, tags or fills masks. */
  decoder_layers: number;
  /** Attention heads; d_model must be a multiple of it. */
  num_heads: number;
  /**
   * Features of a query and of a key in each head (d_k of section 3.2.2); values keep d_model / num_heads, and 0 is
   * that number too. Files without this key have 0.
   */
  key_dim: number;
  /** Inner features of the feed-forward network (section 3.3). */
  ffn_dim: number;
  /** Longest sentence in tokens, end token included. */
  max_length: number;
  /** Number of labels for whole texts; set from the labelled text. */
  classes: number;
  /** Number of tags for words; set from the tagged text. */
  tags: number;
  /** What a classifier reads: the mean over the tokens, or the output at a begin token put before each text. */
  pooling: 'mean' | 'first';
  /** Activation of the pooler, an optional layer before the classifier. */
  pooler: 'none' | 'tanh' | 'relu';
  /** A text may have several labels or none, each with a probability of its own. */
  multi_label: boolean;
  /**
   * Also score each pair of neighbouring tags, in a conditional random field (Lafferty et al. 2001), without label
   * smoothing.
   */
  crf: boolean;
  /**
   * How a target token sees earlier ones: by attention, or by a recurrent cell, which decodes faster. The cell is that
   * of Firefox's students; it has no maps.
   */
  decoder_self: 'attention' | 'ssru';
  /**
   * Score function of attention. q·k/√d_k (Vaswani et al. 2017), q·k or qᵀWk (Luong et al. 2015), or v·tanh(q + k)
   * (Bahdanau et al. 2015). Files without this key have 'scaled_dot'.
   */
  attention: 'scaled_dot' | 'dot' | 'additive' | 'bilinear';
  /** Non-linearity of the feed-forward network. */
  activation: 'relu' | 'gelu' | 'swish';
  /**
   * Layer norm after each sublayer, as in the paper, before it, or nowhere. Without a norm, deep models and high rates
   * may diverge.
   */
  norm: 'post' | 'pre' | 'none';
  /** Add the input of each sublayer to its output (section 3.1). Files without this key have true. */
  residual: boolean;
  /**
   * In training, hide from each target token those after it (section 3.2.3); a translation is written token by token,
   * and sees the earlier ones alone in any case. Without the mask, each token of training sees its own answer, so the
   * loss falls to nothing and translations are useless. Files without this key have true.
   */
  causal: boolean;
  /**
   * How positions are encoded: sines and cosines as in the paper, in Hugging Face's Marian or in Marian itself, learned
   * vectors, or rotation of queries and keys; for comparison also none, integers 0, 1, 2, ... added to every feature,
   * or fractions, which are the integers divided by the last one of the source. Sines and cosines of fixed wavelengths:
   * interleaved ('sinusoidal', Vaswani et al. 2017), or all sines before all cosines, with the same wavelengths
   * ('sinusoidal_halves') or with wavelengths up to exactly 10000 ('sinusoidal_marian'); 'rotary' (Su et al. 2021) is
   * the default of models that classify, tag or fill masks.
   */
  positions: 'sinusoidal' | 'learned' | 'sinusoidal_halves' | 'sinusoidal_marian' | 'rotary' | 'none' | 'integers' | 'fractions';
  /** Which embeddings also serve as output projection: both, the target's, or none. */
  tie_embeddings: 'all' | 'target' | 'none';
  /** Layer norm of the encoder's embeddings with their positions, as in BERT. */
  embedding_norm: boolean;
  /**
   * Tokens that a convolution before an encoder's first layer sees, the token itself in the middle; 0: no convolution.
   */
  convolution_width: number;
  /** Multiply embeddings by the square root of d_model (section 3.4). Files without this key have true. */
  scale_embedding: boolean;
  /** Add a bias to the output projection. */
  output_bias: boolean;
  /** Added to the variance in layer norm. */
  norm_epsilon: number;
  /** Share of sublayer outputs and embeddings dropped in training (section 5.4). */
  dropout: number;
  /** Share of attention probabilities dropped in training. */
  attention_dropout: number;
  /** Share of feed-forward activations dropped in training. */
  activation_dropout: number;
  /** Padding token; the tokenizer decides it. */
  pad_id: number;
  /** First input of the decoder; the tokenizer decides it. */
  bos_id: number;
  /** End token; the tokenizer decides it. */
  eos_id: number;
}

/** How the weights are changed (section 5 of the paper). */
export interface TrainingConfig {
  /**
   * Optimizer (section 5.3). 'muon' (Jordan 2024) learns more per step in short runs, and its step takes about a tenth
   * longer.
   */
  optimizer: 'adam' | 'adamw' | 'sgd' | 'muon';
  /** How the learning rate changes after the warm-up. */
  schedule: 'noam' | 'inverse_sqrt' | 'cosine' | 'linear' | 'constant';
  /** Peak learning rate; for noam a factor of equation 3. */
  learning_rate: number;
  /** Steps in which the rate rises to its peak. */
  warmup_steps: number;
  /** Step at which the cosine and linear schedules reach 0. */
  decay_steps: number;
  /** Decay of Adam's first moment, or the momentum of sgd. */
  beta1: number;
  /** Decay of Adam's second moment. */
  beta2: number;
  /** Added to the denominator of Adam. */
  epsilon: number;
  /**
   * Peak rate of muon, for the matrices of attention, feed-forward and the recurrent unit; with muon, learning_rate is
   * that of Adam, for all other weights; both follow the schedule. Values from 0.01 to 0.03 work about equally well;
   * with muon, use a learning_rate of 0.008 to 0.02.
   */
  muon_rate: number;
  /** Decay of muon's momentum. */
  muon_momentum: number;
  /** Decoupled weight decay of matrices; for adamw, sgd and muon. */
  weight_decay: number;
  /** Largest gradient norm; larger gradients are scaled down; 0 for no limit. */
  clip_norm: number;
  /** Probability spread evenly over all tokens in the loss (section 5.4). */
  label_smoothing: number;
  /** Probability that a piece of the training text is split in two, as are its parts (Provilkov et al. 2020). */
  bpe_dropout: number;
  /** Share of an encoder's input tokens hidden in training. */
  word_dropout: number;
  /** Weight of the tags' loss beside that of the classes. */
  tag_weight: number;
  /** Weight the classes so that rare ones count as much as frequent ones. */
  balance_classes: boolean;
  /**
   * Before the first step, also learn linear classifiers of texts on their words and of words on their spelling and
   * neighbours, whose scores are mixed with those of the encoder. True for new models that classify or tag. What they
   * learn is stored in the model as int8.
   */
  word_scores: boolean;
  /** Share of tokens to predict in masked training (Devlin et al. 2019). */
  mask_rate: number;
  /** Steps in which only the heads of an encoder learn. */
  freeze_steps: number;
  /**
   * How many pieces of the target vocabulary each training batch scores: all its targets, and others drawn at random; 0
   * for all pieces (Jean et al. 2015). A step is faster by up to a third; validation scores all pieces. Use it with
   * `unigram_bias`: pieces that are never targets are never sampled, so training cannot lower their scores.
   */
  output_sample: number;
  /**
   * Begin a new model with output biases that are the log frequencies of the pieces in the training targets (Meister et
   * al. 2023). Cannot be used with `from`: that model has biases of its own.
   */
  unigram_bias: boolean;
  /** Maximum tokens per batch, counted on its longer side. */
  batch_tokens: number;
  /** Batches whose gradients are added up before the weights change. */
  accumulate: number;
  /**
   * After every step, round the weights to values that the file will store, so that the model learns to work with
   * rounded weights; the optimizer keeps the exact ones (Jacob et al. 2018).
   */
  quantization_aware: boolean;
  /** What quantization_aware rounds to: 8 for int8, or 4. */
  quantization_bits: number;
  /** Steps before quantization_aware begins to round, so that only the end of a run does. */
  quantization_start: number;
  /** Seed of weights, dropout and the order of the data. */
  seed: number;
}

/** Kinds of text that can be copied instead of translated. */
export type KeepName = 'url' | 'path' | 'code' | 'placeholder' | 'handle' | 'emoji' | 'markup' | 'number' | 'script' | 'typography' | 'off';

/** How tokens are drawn instead of searching for the best. */
export interface SamplingOptions {
  /** Draw tokens at this temperature instead of searching. Default 1. */
  temperature?: number | undefined;
  /** Draw from the K most probable tokens; 0 for all. Default 0. */
  topK?: number | undefined;
  /** Draw from the most probable tokens that together reach P (Holtzman et al. 2020). Default 1. */
  topP?: number | undefined;
  /** The same seed draws the same text. Default 1. */
  seed?: number | undefined;
}

/** One attention head. */
export interface AttentionHead {
  /** The encoder's attention, the decoder's own, or the decoder's to the source. */
  attention: 'encoder' | 'decoder' | 'cross';
  /** Counted from 0. */
  layer: number;
  /** Counted from 0. */
  head: number;
}

/** A term that translations must use. */
export interface GlossaryTerm {
  /** Whole words of the source; * at the end stands for any ending. */
  source: string;
  /** What the translation has for them, letter by letter. */
  target: string;
}

/** Options of TranslateOptions that the module takes. */
export interface TranslateFields {
  /** Hypotheses kept at each step; 1 is greedy search. Default 4. 1 with `sampling`. */
  beamSize?: number | undefined;
  /**
   * Alpha of ((5 + n) / 6)^alpha, which divides the score of n tokens (Wu et al. 2016); default: the model's own, if it
   * has one, else 0.6. A larger alpha favors longer translations.
   */
  lengthPenalty?: number | undefined;
  /** Hypotheses to return, best first; at most the beam size. Default 1. */
  nBest?: number | undefined;
  /** Longest translation in tokens; 0 for source tokens + 50. Never more than the model's max_length. */
  maxLength?: number | undefined;
  /** Draw tokens instead of searching for the best. */
  sampling?: SamplingOptions | undefined;
  /**
   * Forced start of the translation; token ids ending with the end token are the whole translation. A text, or token
   * ids of the target vocabulary, such as a candidate and the tokens before it.
   */
  prefix?: string | readonly number[] | undefined;
  /** Source tokens hidden from all attention, counted from 0. At least one must remain. */
  maskedSource?: readonly number[] | undefined;
  /** Attention heads whose output is set to 0. */
  maskedHeads?: readonly AttentionHead[] | undefined;
  /** Return the attention probabilities of every layer and head. Default false. */
  attention?: boolean | undefined;
  /** Return the K most probable tokens of each step. Default 0. */
  topTokens?: number | undefined;
  /** Return everything that beam search kept and dropped. Default false. Not with sampling. */
  beamTrace?: boolean | undefined;
  /** Return embeddings, queries, keys, values and the residual stream. Default false. */
  internals?: boolean | undefined;
  /**
   * Score only the pieces in the model's shortlist; auto: if it has one, but not for models from a list by Mozilla,
   * because Firefox uses none. Default 'auto'. Firefox's student models have a shortlist.
   */
  shortlist?: 'auto' | 'on' | 'off' | undefined;
  /** The same as shortlist off: score all target pieces. Default false. */
  fullVocabulary?: boolean | undefined;
  /**
   * What is copied instead of translated; off for nothing; default: everything, if the model has placeholder tokens or
   * its metadata says so.
   */
  keep?: readonly KeepName[] | undefined;
  /**
   * Terms that translations must use, each as often as its source stands in the text. A small letter of a source also
   * matches its capital.
   */
  glossary?: readonly GlossaryTerm[] | undefined;
}

/** Options of AnnotateOptions that the module takes. */
export interface AnnotateFields {
  /** Labels to return, the most probable first; 0 for all. Default 0. Not for a model that only tags. */
  topLabels?: number | undefined;
  /** Return the attention of the encoder. Default false. */
  attention?: boolean | undefined;
  /** Attention heads whose output is set to 0. */
  maskedHeads?: readonly AttentionHead[] | undefined;
  /**
   * Split texts into words; if off, spaces separate the words. Default true. Tagging needs words, numbers and other
   * characters apart. Not for a model that only classifies.
   */
  split?: boolean | undefined;
  /**
   * Leave out the linear models of words, and what is added to the score of the tag O. Default false. Compares what the
   * encoder has learned with both together.
   */
  encoderAlone?: boolean | undefined;
}

/** Options of EvaluateOptions that the module takes. */
export interface EvaluateFields {
  /** Hypotheses kept at each step; 1 is greedy search. Default 1. */
  beamSize?: number | undefined;
  /**
   * Alpha of ((5 + n) / 6)^alpha, which divides the score of n tokens (Wu et al. 2016); default: the model's own, if it
   * has one, else 0.6. As in TranslateOptions.
   */
  lengthPenalty?: number | undefined;
  /**
   * What is copied instead of translated; off for nothing; default: everything, if the model has placeholder tokens or
   * its metadata says so.
   */
  keep?: readonly KeepName[] | undefined;
}

/** Options of RunOptions that the module takes. */
export interface RunFields {
  /** Stop after this many steps. */
  steps?: number | undefined;
  /** Stop after this many passes over the training pairs. */
  epochs?: number | undefined;
  /** Stop after this many minutes. */
  minutes?: number | undefined;
  /**
   * End the schedule, and with it the run, after this many minutes, however fast the steps are. If no goal is given and
   * the trainer was created with a `budget`, the run has the minutes that remain.
   */
  budget?: number | undefined;
  /**
   * Stop after this many passes without a better validation; 0 for never; by default 20 for labelled and tagged texts,
   * unless steps or epochs are given.
   */
  patience?: number | undefined;
  /** Steps between events. Default 10. */
  reportEvery?: number | undefined;
  /**
   * Steps between validations; by default once per epoch. If an epoch takes fewer than 20 steps, at the end of every
   * second, third, … epoch that takes at least 20. There is also one at the end of the run.
   */
  validateEvery?: number | undefined;
  /** Validation pairs, from the first, whose translations an event shows. Default 5. */
  samples?: number | undefined;
  /** Include the attention of the samples. Default false. */
  attention?: boolean | undefined;
  /** Texts to translate greedily, with attention, during the run. For an encoder, to classify and tag. */
  pinned?: readonly string[] | undefined;
  /** Steps between translations of the pinned texts; by default reportEvery. */
  pinEvery?: number | undefined;
}

/** A tokenizer made from the training pairs. */
export interface TokenizerSettings {
  /** 'char': all characters; word: the most frequent words; bpe and unigram learn pieces. */
  type: 'char' | 'word' | 'bpe' | 'unigram';
  /**
   * Pieces including four special ones, by default 2000, or for texts of many different characters 1000 more than
   * these; 8000 words; not for char.
   */
  vocabSize?: number | undefined;
  /** One vocabulary for both sides. Default true. */
  joint?: boolean | undefined;
  /**
   * For bpe and unigram: Unicode's compatibility form, or the text as it is. In the compatibility form (default)
   * full-width punctuation, as in Chinese, becomes ASCII. Other types take the text as it is.
   */
  normalization?: 'nmt_nfkc' | 'identity' | undefined;
}

/** Changed copies that are added to the pairs to train on; each number is how many per pair of the text. */
export interface Augmentation {
  /** Two to four pairs as one. Default 0. */
  concat?: number | undefined;
  /** @deprecated use concat */
  join?: number | undefined;
  /** Names and numbers replaced by others, the same on both sides. Default 0. */
  names?: number | undefined;
  /** Both sides in lower case, or only their first letter. Default 0. */
  lowercase?: number | undefined;
  /** @deprecated use lowercase */
  small?: number | undefined;
  /** Both sides in capitals. Default 0. */
  uppercase?: number | undefined;
  /** @deprecated use uppercase */
  capitals?: number | undefined;
  /** Both sides without their final punctuation mark. Default 0. */
  noFinalPunctuation?: number | undefined;
  /** @deprecated use noFinalPunctuation */
  unmarked?: number | undefined;
}

/** Options of TrainerOptions that the module takes. */
export interface RequestFields {
  /**
   * Sizes and settings to begin with; toy for a task, else tiny (small in the program). For a task, its rate falls to 0
   * by the time it is learned. An encoder has a preset of its own, with much dropout.
   */
  preset?: PresetName | undefined;
  /**
   * Changed copies that are added to the pairs to train on. A resumed run adds them again by itself. Not for a task.
   */
  augment?: Augmentation | undefined;
  /**
   * How many times the pairs of each corpus are taken; a fraction takes a share of them. With them, `pairs` or `tsv` is
   * a list of as many corpora. Numbers above 1 need pairs to validate on.
   */
  weights?: readonly number[] | undefined;
  /** The teacher's beam size, 4 by default; the hypothesis nearest to the target is learned. Only with `teacher`. */
  teacherBeam?: number | undefined;
  /**
   * Minutes for the whole run: settings that are not given are chosen for the texts and this machine's speed, and the
   * run ends then. `TrainerInfo.budget` says what to expect; `run()` without a goal ends in time. Cannot be given with
   * `decay_steps`.
   */
  budget?: number | undefined;
  /**
   * Seed of weights, dropout, the order of the data and the held-back pairs. The same seed gives the same numbers.
   * Default 1.
   */
  seed?: number | undefined;
  /** What to learn from plain text: mask, to fill in hidden tokens, is the default. */
  objective?: string | undefined;
  /** SOURCE-TARGET, stored in the model, such as de-en. */
  languages?: string | undefined;
  /** Strings to store in the model. */
  metadata?: Record<string, string> | undefined;
}
