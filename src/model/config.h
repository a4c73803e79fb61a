// The hyper-parameters: of the model (Vaswani et al. 2017, sections 3 and 5.4) and of its training (section
// 5). Every field is reached by visit(), so JSON, --set and the model file know the same keys.
#pragma once

#include <cstdint>
#include <string>

#include "ops/activation.h"
#include "ops/attention.h"
#include "tensor/matrix.h"

namespace wasmformer {

enum class NormPlace { post, pre };
// Constant ones as ops/embedding.h; sinusoidal is the paper's, sinusoidal_halves Hugging Face Marian's, and
// sinusoidal_marian Marian's own.
enum class Positions { sinusoidal, learned, sinusoidal_halves, sinusoidal_marian };
enum class TieEmbeddings { all, target, none };

struct Config {
  Index source_vocab_size = 0;
  Index target_vocab_size = 0;
  Index d_model = 512;
  Index encoder_layers = 6;
  Index decoder_layers = 6;
  Index num_heads = 8;
  Index ffn_dim = 2048;
  Index max_length = 512;  // tokens of a sentence, the end token counted
  Scoring attention = Scoring::scaled_dot;
  Activation activation = Activation::relu;
  NormPlace norm = NormPlace::post;
  Positions positions = Positions::sinusoidal;
  TieEmbeddings tie_embeddings = TieEmbeddings::all;
  bool scale_embedding = true;  // times √d_model
  bool output_bias = true;
  double norm_epsilon = 1e-5;
  double dropout = 0.1;
  double attention_dropout = 0;
  double activation_dropout = 0;
  TokenId pad_id = 0;
  TokenId bos_id = 2;  // the decoder's first input
  TokenId eos_id = 3;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("source_vocab_size", source_vocab_size);
    v("target_vocab_size", target_vocab_size);
    v("d_model", d_model);
    v("encoder_layers", encoder_layers);
    v("decoder_layers", decoder_layers);
    v("num_heads", num_heads);
    v("ffn_dim", ffn_dim);
    v("max_length", max_length);
    v("attention", attention);
    v("activation", activation);
    v("norm", norm);
    v("positions", positions);
    v("tie_embeddings", tie_embeddings);
    v("scale_embedding", scale_embedding);
    v("output_bias", output_bias);
    v("norm_epsilon", norm_epsilon);
    v("dropout", dropout);
    v("attention_dropout", attention_dropout);
    v("activation_dropout", activation_dropout);
    v("pad_id", pad_id);
    v("bos_id", bos_id);
    v("eos_id", eos_id);
  }

  // Throws Error, naming the key and both values, when no model can have these sizes.
  void check() const;
  bool operator==(const Config&) const = default;
};

enum class OptimizerKind { adam, adamw, sgd };
enum class Schedule { noam, inverse_sqrt, cosine, constant };

struct TrainingConfig {
  OptimizerKind optimizer = OptimizerKind::adam;
  Schedule schedule = Schedule::noam;
  double learning_rate = 2;  // the peak; for noam the factor before d_model^-0.5 (equation 3)
  Index warmup_steps = 4000;
  Index decay_steps = 20000;  // where the cosine schedule reaches 0
  double beta1 = 0.9;         // the momentum of sgd
  double beta2 = 0.98;
  double epsilon = 1e-9;
  double weight_decay = 0;  // of adamw and sgd, of matrices only
  double clip_norm = 0;     // 0: no clipping
  double label_smoothing = 0.1;
  Index batch_tokens = 4096;  // target tokens a step, at most
  std::uint64_t seed = 1;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("optimizer", optimizer);
    v("schedule", schedule);
    v("learning_rate", learning_rate);
    v("warmup_steps", warmup_steps);
    v("decay_steps", decay_steps);
    v("beta1", beta1);
    v("beta2", beta2);
    v("epsilon", epsilon);
    v("weight_decay", weight_decay);
    v("clip_norm", clip_norm);
    v("label_smoothing", label_smoothing);
    v("batch_tokens", batch_tokens);
    v("seed", seed);
  }

  void check() const;
  bool operator==(const TrainingConfig&) const = default;
};

// Both from `name`: toy | tiny | small | base | big | multi30k-tiny | kyubyong. Throws Error for others.
struct Preset {
  Config config;
  TrainingConfig training;
};
Preset preset(const std::string& name);

// "d_model=256": sets one key of either struct. Throws Error when the key is unknown or the value not one of
// it.
void set_option(Config& config, TrainingConfig& training, const std::string& key, const std::string& value);

// JSON of all keys; reading throws Error for unknown keys and wrong types. Missing keys keep their values.
// Without `training` its keys are checked in reading and dropped.
std::string to_json(const Config& config, const TrainingConfig* training = nullptr);
void from_json(const std::string& json, Config& config, TrainingConfig* training = nullptr);

}  // namespace wasmformer
