#include "model/config.h"

#include <algorithm>

#include "model/noam.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

// 1 GiB of floats: the most that 32-bit WebAssembly could hold in one matrix.
constexpr std::int64_t max_matrix_size = std::int64_t{1} << 28;

void check_matrix(const char* rows_key, Index rows, const char* cols_key, Index cols) {
  WASMFORMER_CHECK(
      std::int64_t{rows} * std::int64_t{cols} <= max_matrix_size, ErrorCode::config,
      rows_key << " " << rows << " times " << cols_key << " " << cols << " is more than " << max_matrix_size);
}

void check_vocabulary(const char* key, Index size) {
  WASMFORMER_CHECK(size > 0, ErrorCode::config, key << " is 0; a model needs a vocabulary");
}

void check_id(const char* key, TokenId id, Index source_size, Index target_size) {
  const Index size = std::min(source_size, target_size);
  WASMFORMER_CHECK(id >= 0 && id < size, ErrorCode::config,
                   key << " is " << id << "; the vocabulary has ids from 0 to " << size - 1);
}

}  // namespace

void Config::check() const {
  check_vocabulary("source_vocab_size", source_vocab_size);
  check_vocabulary("target_vocab_size", target_vocab_size);
  check_ranges(fields(*this), "config");
  check_matrix("source_vocab_size", source_vocab_size, "d_model", d_model);
  check_matrix("target_vocab_size", target_vocab_size, "d_model", d_model);
  check_matrix("ffn_dim", ffn_dim, "d_model", d_model);
  check_matrix("max_length", max_length, "d_model", d_model);
  WASMFORMER_CHECK(d_model % num_heads == 0, ErrorCode::config,
                   "d_model " << d_model << " is not a multiple of num_heads " << num_heads);
  check_matrix("num_heads times key_dim", key_width(), "d_model", d_model);
  WASMFORMER_CHECK(positions != Positions::rotary || key_dim > 0 || head_key_dim() % 2 == 0, ErrorCode::config,
                   "d_model " << d_model << " and num_heads " << num_heads << " make heads of " << head_key_dim()
                              << " features; with rotary positions that must be even");
  WASMFORMER_CHECK(positions != Positions::rotary || head_key_dim() % 2 == 0, ErrorCode::config,
                   "key_dim is " << key_dim << "; with rotary positions it must be even");
  WASMFORMER_CHECK(
      positions != Positions::rotary || attention == AttentionScore::scaled_dot || attention == AttentionScore::dot,
      ErrorCode::config, "rotary positions need attention scaled_dot or dot");
  const bool any_width = positions == Positions::learned || positions == Positions::none ||
                         positions == Positions::integers || positions == Positions::fractions;
  WASMFORMER_CHECK(any_width || d_model % 2 == 0, ErrorCode::config,
                   "d_model is " << d_model << "; with sinusoidal positions it must be even");
  WASMFORMER_CHECK(tie_embeddings != TieEmbeddings::all || source_vocab_size == target_vocab_size, ErrorCode::config,
                   "source_vocab_size " << source_vocab_size << " and target_vocab_size " << target_vocab_size
                                        << " differ; tie_embeddings 'all' needs one vocabulary");
  WASMFORMER_CHECK(is_encoder() || (classes == 0 && tags == 0), ErrorCode::config,
                   "classes " << classes << " and tags " << tags << " need decoder_layers 0, not " << decoder_layers);
  WASMFORMER_CHECK(!is_encoder() || tie_embeddings == TieEmbeddings::all, ErrorCode::config,
                   "a model without a decoder has one vocabulary; tie_embeddings must be 'all'");
  WASMFORMER_CHECK(tags == 0 || max_length >= 3, ErrorCode::config,
                   "max_length " << max_length << " leaves no room for a word to tag; it must be at least 3");
  WASMFORMER_CHECK(is_encoder() || (pooling == Pooling::mean && !embedding_norm), ErrorCode::config,
                   "pooling and embedding_norm are for models without a decoder");
  WASMFORMER_CHECK(convolution_width == 0 || convolution_width % 2 == 1, ErrorCode::config,
                   "convolution_width is " << convolution_width << "; it must be odd, or 0");
  WASMFORMER_CHECK(is_encoder() || convolution_width == 0, ErrorCode::config,
                   "convolution_width is for models without a decoder");
  WASMFORMER_CHECK(classes > 0 || (pooler == Pooler::none && !multi_label), ErrorCode::config,
                   "pooler and multi_label are for models with classes");
  WASMFORMER_CHECK(tags > 0 || !crf, ErrorCode::config, "crf is for models with tags");
  WASMFORMER_CHECK(norm != NormPosition::none || !embedding_norm, ErrorCode::config,
                   "embedding_norm is given, but norm is none");
  WASMFORMER_CHECK(causal || !is_recurrent(), ErrorCode::config,
                   "causal is false; a recurrent decoder, with decoder_self ssru, cannot see later tokens");
  // Pad and begin, which no search chooses, are only ever a target's; the end belongs to both sides.
  check_id("pad_id", pad_id, target_vocab_size, target_vocab_size);
  check_id("bos_id", bos_id, target_vocab_size, target_vocab_size);
  check_id("eos_id", eos_id, source_vocab_size, target_vocab_size);
}

void TrainingConfig::check() const {
  check_ranges(fields(*this), "config");
  WASMFORMER_CHECK(schedule == Schedule::constant || warmup_steps > 0, ErrorCode::config,
                   "warmup_steps is 0; only the constant schedule works without a warm-up");
  const bool ends = schedule == Schedule::cosine || schedule == Schedule::linear;
  WASMFORMER_CHECK(!ends || decay_steps > warmup_steps, ErrorCode::config,
                   "decay_steps is " << decay_steps << "; schedule " << word(schedule)
                                     << " needs more than warmup_steps, " << warmup_steps);
  WASMFORMER_CHECK(optimizer != OptimizerKind::adam || weight_decay == 0, ErrorCode::config,
                   "weight_decay is " << weight_decay << "; it needs optimizer adamw, sgd or muon");
  WASMFORMER_CHECK(quantization_bits == 4 || quantization_bits == 8, ErrorCode::config,
                   "quantization_bits is " << quantization_bits << "; files have weights of 4 or 8 bits");
}

namespace {

void set_sizes(Config& c, Index d_model, Index layers, Index num_heads, Index ffn_dim, double dropout) {
  c.d_model = d_model;
  c.encoder_layers = c.decoder_layers = layers;
  c.num_heads = num_heads;
  c.ffn_dim = ffn_dim;
  c.dropout = dropout;
}

void set_noam(Preset& p, double peak, Index warmup_steps) {
  p.training.learning_rate = peak * noam_factor_of_1(p.config.d_model, warmup_steps);
  p.training.warmup_steps = warmup_steps;
}

// Synthetic tasks, which have more pairs than can be memorized.
void toy(Preset& p) {
  set_sizes(p.config, 64, 2, 4, 256, 0);
  p.config.norm = NormPosition::pre;  // with post, some seeds do not learn to add
  TrainingConfig& t = p.training;
  t.schedule = Schedule::cosine;
  t.learning_rate = 3e-3;
  t.warmup_steps = 100;
  t.decay_steps = 500;
  t.label_smoothing = 0;
  t.clip_norm = 1;
  t.batch_tokens = 1024;
}

// A few thousand pairs in a tab.
void tiny(Preset& p) {
  set_sizes(p.config, 64, 2, 4, 256, 0.1);
  set_noam(p, 3e-3, 300);
  p.training.batch_tokens = 1024;
}

void small(Preset& p) {
  set_sizes(p.config, 256, 3, 4, 1024, 0.1);
  set_noam(p, 1.5e-3, 2000);
}

// Vaswani et al. 2017, table 3 and section 5.3.
void base(Preset& p) {
  set_sizes(p.config, 512, 6, 8, 2048, 0.1);
  p.training.learning_rate = 1;
  p.training.batch_tokens = 25000;
}
void big(Preset& p) {
  base(p);
  set_sizes(p.config, 1024, 6, 16, 4096, 0.3);
}

// Wu et al. 2021, "Good for Misconceived Reasons".
void multi30k_tiny(Preset& p) {
  set_sizes(p.config, 128, 4, 4, 256, 0.3);
  p.training.learning_rate = 2.5;
  p.training.warmup_steps = 2000;
}

// hparams.py of Kyubyong/transformer; Adam with TensorFlow's defaults.
void kyubyong(Preset& p) {
  set_sizes(p.config, 512, 6, 8, 2048, 0.3);
  set_noam(p, 3e-4, 4000);
  p.config.output_bias = false;
  p.config.norm_epsilon = 1e-8;
  p.training.beta2 = 0.999;
  p.training.epsilon = 1e-8;
}

// Mozilla's tiny students: a deep encoder and a shallow decoder, which does most of the work of decoding. In all that
// changes numbers it is Marian's, so that Bergamot runs what comes of it (exchange/marian/student_export.h).
void student_tiny(Preset& p) {
  set_sizes(p.config, 256, 6, 8, 1536, 0.1);
  p.config.decoder_layers = 2;
  p.config.decoder_self = DecoderSelf::ssru;
  p.config.positions = Positions::sinusoidal_marian;
  p.config.norm_epsilon = 1e-6;
  set_noam(p, 1.5e-3, 2000);
}
// A smaller `student-tiny`, about as big as the students in web/models/LAB.md.
void student_micro(Preset& p) {
  student_tiny(p);
  p.config.encoder_layers = 3;
  p.config.decoder_layers = 1;
  p.config.ffn_dim = 1024;
}

struct NamedPreset {
  const char* name;
  void (*set)(Preset&);
};
constexpr NamedPreset presets[] = {{"toy", toy},
                                   {"tiny", tiny},
                                   {"small", small},
                                   {"base", base},
                                   {"big", big},
                                   {"multi30k-tiny", multi30k_tiny},
                                   {"kyubyong", kyubyong},
                                   {"student-tiny", student_tiny},
                                   {"student-micro", student_micro}};

}  // namespace

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, set] : presets) all.emplace_back(name);
    return all;
  }();
  return names;
}

Preset preset(const std::string& name) {
  for (const NamedPreset& known : presets) {
    if (name != known.name) continue;
    Preset p;
    known.set(p);
    return p;
  }
  throw Error(ErrorCode::config, "unknown preset '" + name + "'; the presets are " + join(preset_names()));
}

// An encoder alone, which dropout keeps from learning a few thousand texts by heart.
Preset encoder_preset() {
  Preset p;
  set_sizes(p.config, 128, 2, 4, 512, 0.3);
  p.config.decoder_layers = 0;
  p.config.norm = NormPosition::pre;
  p.config.positions = Positions::rotary;
  p.config.crf = true;
  p.config.convolution_width = 3;
  TrainingConfig& t = p.training;
  t.schedule = Schedule::inverse_sqrt;
  t.learning_rate = 1e-3;
  t.warmup_steps = 300;
  t.word_dropout = 0.1;
  t.clip_norm = 1;
  t.batch_tokens = 1024;
  return p;
}

void set_option(Config& config, TrainingConfig& training, const std::string& key, const std::string& value) {
  set_field(fields(config) + fields(training), key, value, "config");
}

std::string to_json(const Config& config, const TrainingConfig* training) {
  return to_json(training ? fields(config) + fields(*training) : fields(config));
}

void from_json(const std::string& text, Config& config, TrainingConfig* training) {
  Config new_config = config;
  TrainingConfig new_training = training ? *training : TrainingConfig();
  from_json(text, fields(new_config) + fields(new_training), "config");
  config = new_config;
  if (training) *training = new_training;
}

}  // namespace wasmformer
