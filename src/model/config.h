// The hyper-parameters: of the model (Vaswani et al. 2017, sections 3 and 5.4) and of its training (section
// 5). visit() declares each one (schema/options.h), so JSON, --set and the model file know the same keys.
#pragma once

#include <cstdint>
#include <string>

#include "nn/transformer_layers.h"
#include "ops/activation.h"
#include "schema/options.h"
#include "tensor/matrix.h"

namespace wasmformer {

// Constant ones as ops/embedding.h: sinusoidal is the paper's, sinusoidal_halves Hugging Face Marian's,
// sinusoidal_marian Marian's own. rotary adds nothing to the embeddings; it rotates queries and keys (ops/rotary.h).
// The last three are for comparison: integers adds the position t = 0, 1, ... to every feature, fractions adds
// t / (T - 1), where T is the number of source tokens that are not masked. A decoder uses the same T, since the length
// of a translation is not known while it is being written.
enum class Positions { sinusoidal, learned, sinusoidal_halves, sinusoidal_marian, rotary, none, integers, fractions };
enum class TieEmbeddings { all, target, none };
// Input of the classifier for a text: the mean of the encoder's output, or its output at a begin token.
enum class Pooling { mean, first };
// The activation of a layer between pooling and the classes: tanh in BERT, ReLU in DistilBERT.
enum class Pooler { none, tanh, relu };

WASMFORMER_ENUM_NAMES(AttentionScore, "scaled_dot", "dot", "additive", "bilinear");
WASMFORMER_ENUM_NAMES(Activation, "relu", "gelu", "swish");
WASMFORMER_ENUM_NAMES(NormPosition, "post", "pre", "none");
WASMFORMER_ENUM_NAMES(Positions, "sinusoidal", "learned", "sinusoidal_halves", "sinusoidal_marian", "rotary", "none",
                      "integers", "fractions");
WASMFORMER_ENUM_NAMES(TieEmbeddings, "all", "target", "none");
WASMFORMER_ENUM_NAMES(DecoderSelf, "attention", "ssru");
WASMFORMER_ENUM_NAMES(Pooling, "mean", "first");
WASMFORMER_ENUM_NAMES(Pooler, "none", "tanh", "relu");

struct Config {
  Index source_vocab_size = 0;
  Index target_vocab_size = 0;
  Index d_model = 512;
  Index encoder_layers = 6;
  Index decoder_layers = 6;
  Index num_heads = 8;
  Index key_dim = 0;
  Index ffn_dim = 2048;
  Index max_length = 512;
  Index classes = 0;
  Index tags = 0;
  Pooling pooling = Pooling::mean;
  Pooler pooler = Pooler::none;
  bool multi_label = false;
  bool crf = false;
  DecoderSelf decoder_self = DecoderSelf::attention;
  AttentionScore attention = AttentionScore::scaled_dot;
  Activation activation = Activation::relu;
  NormPosition norm = NormPosition::post;
  bool residual = true;
  bool causal = true;
  Positions positions = Positions::sinusoidal;
  TieEmbeddings tie_embeddings = TieEmbeddings::all;
  bool embedding_norm = false;
  Index convolution_width = 0;
  bool scale_embedding = true;
  bool output_bias = true;
  double norm_epsilon = 1e-5;
  double dropout = 0.1;
  double attention_dropout = 0;
  double activation_dropout = 0;
  TokenId pad_id = 0;
  TokenId bos_id = 2;
  TokenId eos_id = 3;

  // Length: every option of a model, declared once.
  template <class Visitor>
  void visit(Visitor&& v) {
    const Range rate = at_least(0).below(1);
    const Range vocabulary = between(0, 1 << 22);
    v({"source_vocab_size", "pieces of the source vocabulary; the tokenizer decides it", vocabulary},
      source_vocab_size);
    v({"target_vocab_size", "pieces of the target vocabulary; the tokenizer decides it", vocabulary},
      target_vocab_size);
    v({"d_model", "features of a token (section 3.1)", between(1, 1 << 14)}, d_model);
    v({"encoder_layers", "layers of the encoder", between(1, 1 << 10)}, encoder_layers);
    v({"decoder_layers", "layers of the decoder; 0 for an encoder that classifies, tags or fills masks",
       between(0, 1 << 10)},
      decoder_layers);
    v({"num_heads", "attention heads; d_model must be a multiple of it", between(1, 1 << 10)}, num_heads);
    v({"key_dim",
       "features of a query and of a key in each head (d_k of section 3.2.2); values keep d_model / num_heads, and 0 "
       "is "
       "that number too",
       between(0, 1 << 14)},
      key_dim);
    // One more bit would overflow the 32-bit sums of int8 products.
    v({"ffn_dim", "inner features of the feed-forward network (section 3.3)", between(1, 1 << 17)}, ffn_dim);
    v({"max_length", "longest sentence in tokens, end token included", between(1, 1 << 20)}, max_length);
    v({"classes", "number of labels for whole texts; set from the labelled text", between(0, 1 << 16)}, classes);
    v({"tags", "number of tags for words; set from the tagged text", between(0, 1 << 16)}, tags);
    v({"pooling",
       "what a classifier reads: the mean over the tokens, or the output at a begin token put before each text"},
      pooling);
    v({"pooler", "activation of the pooler, an optional layer before the classifier"}, pooler);
    v({"multi_label", "a text may have several labels or none, each with a probability of its own"}, multi_label);
    v({"crf",
       "also score each pair of neighbouring tags, in a conditional random field (Lafferty et al. 2001), without label "
       "smoothing"},
      crf);
    v({"decoder_self",
       "how a target token sees earlier ones: by attention, or by a recurrent cell, which decodes faster"},
      decoder_self);
    v({"attention", "score function of attention"}, attention);
    v({"activation", "non-linearity of the feed-forward network"}, activation);
    v({"norm", "layer norm after each sublayer, as in the paper, before it, or nowhere"}, norm);
    v({"residual", "add the input of each sublayer to its output (section 3.1)"}, residual);
    v({"causal",
       "in training, hide from each target token those after it (section 3.2.3); a translation is written token by "
       "token, and sees the earlier ones alone in any case"},
      causal);
    v({"positions",
       "how positions are encoded: sines and cosines as in the paper, in Hugging Face's Marian or in Marian itself, "
       "learned vectors, or rotation of queries and keys; for comparison also none, integers 0, 1, 2, ... added to "
       "every feature, or fractions, which are the integers divided by the last one of the source"},
      positions);
    v({"tie_embeddings", "which embeddings also serve as output projection: both, the target's, or none"},
      tie_embeddings);
    v({"embedding_norm", "layer norm of the encoder's embeddings with their positions, as in BERT"}, embedding_norm);
    v({"convolution_width",
       "tokens that a convolution before an encoder's first layer sees, the token itself in the middle; 0: no "
       "convolution",
       between(0, 7)},
      convolution_width);
    v({"scale_embedding", "multiply embeddings by the square root of d_model (section 3.4)"}, scale_embedding);
    v({"output_bias", "add a bias to the output projection"}, output_bias);
    v({"norm_epsilon", "added to the variance in layer norm", above(0)}, norm_epsilon);
    v({"dropout", "share of sublayer outputs and embeddings dropped in training (section 5.4)", rate}, dropout);
    v({"attention_dropout", "share of attention probabilities dropped in training", rate}, attention_dropout);
    v({"activation_dropout", "share of feed-forward activations dropped in training", rate}, activation_dropout);
    v({"pad_id", "padding token; the tokenizer decides it"}, pad_id);
    v({"bos_id", "first input of the decoder; the tokenizer decides it"}, bos_id);
    v({"eos_id", "end token; the tokenizer decides it"}, eos_id);
  }

  // Returns the number of decoder layers with self-attention, and so with attention maps and heads to mask.
  Index decoder_attentions() const { return is_recurrent() ? 0 : decoder_layers; }
  bool is_encoder() const { return decoder_layers == 0; }
  bool is_recurrent() const { return decoder_self == DecoderSelf::ssru; }
  // Features of a query or a key in one head (d_k), and of all heads.
  Index head_key_dim() const { return key_dim > 0 ? key_dim : d_model / num_heads; }
  Index key_width() const { return num_heads * head_key_dim(); }
  // Returns whether rows of a table, [max_length, d_model], are added to the embeddings.
  bool has_position_table() const {
    return positions != Positions::rotary && positions != Positions::none && positions != Positions::fractions;
  }
  // Models of Marian have their begin token after the pieces of their vocabulary.
  bool begins_after_vocabulary() const {
    return positions == Positions::sinusoidal_marian && bos_id == target_vocab_size - 1;
  }
  // Returns whether the model has an output projection to the target vocabulary.
  bool predicts_tokens() const { return !is_encoder() || (classes == 0 && tags == 0); }
  // Throws Error, naming the key and the values, if no model can have these sizes.
  void check() const;
  bool operator==(const Config&) const = default;
};

enum class OptimizerKind { adam, adamw, sgd, muon };
enum class Schedule { noam, inverse_sqrt, cosine, linear, constant };

WASMFORMER_ENUM_NAMES(OptimizerKind, "adam", "adamw", "sgd", "muon");
WASMFORMER_ENUM_NAMES(Schedule, "noam", "inverse_sqrt", "cosine", "linear", "constant");

// Settings of training. visit() gives each field's meaning, unit and range.
struct TrainingConfig {
  OptimizerKind optimizer = OptimizerKind::adam;
  Schedule schedule = Schedule::noam;
  double learning_rate = 2;
  Index warmup_steps = 4000;
  Index decay_steps = 20000;
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
  double muon_rate = 0.015;
  double muon_momentum = 0.95;
  double weight_decay = 0;
  double clip_norm = 0;
  double label_smoothing = 0.1;
  double bpe_dropout = 0;
  double word_dropout = 0;
  double tag_weight = 1;
  bool balance_classes = false;
  bool word_scores = false;
  double mask_rate = 0.15;
  Index freeze_steps = 0;
  Index output_sample = 0;
  bool unigram_bias = false;
  Index batch_tokens = 4096;
  Index accumulate = 1;
  bool quantization_aware = false;
  Index quantization_bits = 8;
  Index quantization_start = 0;
  std::uint64_t seed = 1;

  template <class Visitor>
  void visit(Visitor&& v) {
    const Range rate = at_least(0).below(1);
    const Range steps = between(0, 1 << 30);
    v({"optimizer", "optimizer (section 5.3)"}, optimizer);
    v({"schedule", "how the learning rate changes after the warm-up"}, schedule);
    v({"learning_rate", "peak learning rate; for noam a factor of equation 3", above(0)}, learning_rate);
    v({"warmup_steps", "steps in which the rate rises to its peak", steps}, warmup_steps);
    v({"decay_steps", "step at which the cosine and linear schedules reach 0", between(1, 1 << 30)}, decay_steps);
    v({"beta1", "decay of Adam's first moment, or the momentum of sgd", rate}, beta1);
    v({"beta2", "decay of Adam's second moment", rate}, beta2);
    v({"epsilon", "added to the denominator of Adam", above(0)}, epsilon);
    v({"muon_rate",
       "peak rate of muon, for the matrices of attention, feed-forward and the recurrent unit; with muon, "
       "learning_rate is that of Adam, for all other weights; both follow the schedule",
       above(0)},
      muon_rate);
    v({"muon_momentum", "decay of muon's momentum", rate}, muon_momentum);
    v({"weight_decay", "decoupled weight decay of matrices; for adamw, sgd and muon", rate}, weight_decay);
    v({"clip_norm", "largest gradient norm; larger gradients are scaled down; 0 for no limit", at_least(0)}, clip_norm);
    v({"label_smoothing", "probability spread evenly over all tokens in the loss (section 5.4)", rate},
      label_smoothing);
    v({"bpe_dropout",
       "probability that a piece of the training text is split in two, as are its parts (Provilkov et al. 2020)", rate},
      bpe_dropout);
    v({"word_dropout", "share of an encoder's input tokens hidden in training", rate}, word_dropout);
    v({"tag_weight", "weight of the tags' loss beside that of the classes", above(0)}, tag_weight);
    v({"balance_classes", "weight the classes so that rare ones count as much as frequent ones"}, balance_classes);
    v({"word_scores",
       "before the first step, also learn linear classifiers of texts on their words and of words on their spelling "
       "and neighbours, whose scores are mixed with those of the encoder"},
      word_scores);
    v({"mask_rate", "share of tokens to predict in masked training (Devlin et al. 2019)", above(0).below(1)},
      mask_rate);
    v({"freeze_steps", "steps in which only the heads of an encoder learn", steps}, freeze_steps);
    v({"output_sample",
       "how many pieces of the target vocabulary each training batch scores: all its targets, and others drawn at "
       "random; 0 for all pieces (Jean et al. 2015)",
       between(0, 1 << 22)},
      output_sample);
    v({"unigram_bias",
       "begin a new model with output biases that are the log frequencies of the pieces in the training targets "
       "(Meister et al. 2023)"},
      unigram_bias);
    v({"batch_tokens", "maximum tokens per batch, counted on its longer side", between(1, 1 << 24)}, batch_tokens);
    v({"accumulate", "batches whose gradients are added up before the weights change", between(1, 1 << 16)},
      accumulate);
    v({"quantization_aware",
       "after every step, round the weights to values that the file will store, so that the model learns to work with "
       "rounded weights; the optimizer keeps the exact ones (Jacob et al. 2018)"},
      quantization_aware);
    v({"quantization_bits", "what quantization_aware rounds to: 8 for int8, or 4", between(4, 8)}, quantization_bits);
    v({"quantization_start", "steps before quantization_aware begins to round, so that only the end of a run does",
       steps},
      quantization_start);
    v({"seed", "seed of weights, dropout and the order of the data"}, seed);
  }

  // Throws Error, naming the key and the values.
  void check() const;
  bool operator==(const TrainingConfig&) const = default;
};

struct Preset {
  Config config;
  TrainingConfig training;
};
// The names that preset() knows.
const std::vector<std::string>& preset_names();
// Throws Error for an unknown name.
Preset preset(const std::string& name);
// Default settings of an encoder that is trained to classify, tag or fill masks.
Preset encoder_preset();

// "d_model=256": sets one key of either struct. Throws Error for an unknown key or a value that it cannot
// have.
void set_option(Config& config, TrainingConfig& training, const std::string& key, const std::string& value);

// JSON of all keys. Reading throws Error for unknown keys and wrong types, and then changes nothing; missing
// keys keep their values. Without `training` its keys are checked on reading and dropped.
std::string to_json(const Config& config, const TrainingConfig* training = nullptr);
void from_json(const std::string& json, Config& config, TrainingConfig* training = nullptr);

}  // namespace wasmformer
