#include "model/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/check.h"

namespace wasmformer {
namespace {

using Json = nlohmann::ordered_json;

// The words of each choice, in the order of its enumerators.
constexpr std::array<const char*, 4> words(Scoring) { return {"scaled_dot", "dot", "additive", "bilinear"}; }
constexpr std::array<const char*, 3> words(Activation) { return {"relu", "gelu", "swish"}; }
constexpr std::array<const char*, 2> words(NormPlace) { return {"post", "pre"}; }
constexpr std::array<const char*, 4> words(Positions) {
  return {"sinusoidal", "learned", "sinusoidal_halves", "sinusoidal_marian"};
}
constexpr std::array<const char*, 3> words(TieEmbeddings) { return {"all", "target", "none"}; }
constexpr std::array<const char*, 3> words(OptimizerKind) { return {"adam", "adamw", "sgd"}; }
constexpr std::array<const char*, 4> words(Schedule) {
  return {"noam", "inverse_sqrt", "cosine", "constant"};
}

template <class T>
Json to_value(const T& field) {
  if constexpr (std::is_enum_v<T>) {
    return words(field)[static_cast<std::size_t>(field)];
  } else {
    return field;
  }
}

template <class T>
std::string expected(const T& field) {
  if constexpr (std::is_enum_v<T>) {
    std::string list;
    for (const char* word : words(field)) list += (list.empty() ? "" : "|") + std::string(word);
    return list;
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true|false";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "a number";
  } else {
    return std::is_signed_v<T> ? "a whole number" : "a whole number from 0";
  }
}

// False when `value` is not one that `field` can hold.
template <class T>
bool assign(T& field, const Json& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto names = words(field);
    const auto found =
        value.is_string() ? std::find(names.begin(), names.end(), value.get<std::string>()) : names.end();
    if (found == names.end()) return false;
    field = static_cast<T>(found - names.begin());
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) return false;
    field = value.get<bool>();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return false;
    field = value.get<double>();
  } else if (value.is_number_unsigned()) {  // how the parser holds every whole number from 0
    if (!std::in_range<T>(value.get<std::uint64_t>())) return false;
    field = static_cast<T>(value.get<std::uint64_t>());
  } else {
    if (!value.is_number_integer() || !std::in_range<T>(value.get<std::int64_t>())) return false;
    field = static_cast<T>(value.get<std::int64_t>());
  }
  return true;
}

// Least number of letters to insert, remove or replace that makes `a` of `b`.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, replaced}));
    }
  }
  return row.back();
}

[[noreturn]] void throw_unknown(const std::string& key, Config& config, TrainingConfig& training) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, key.size() / 2) + 1;
  const auto look = [&](const std::string& name, const auto&) {
    // A part of a name means it; a key far longer than any of ours cannot be a slip of one.
    const bool part = key.size() > 2 && name.find(key) != std::string::npos;
    const std::size_t distance = part                               ? 1
                                 : key.size() > 2 * name.size() + 2 ? least
                                                                    : edit_distance(key, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  };
  config.visit(look);
  training.visit(look);
  const std::string hint = nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
  throw Error("[config] there is no key '" + key.substr(0, 80) + "'" + hint);
}

void assign_key(Config& config, TrainingConfig& training, const std::string& key, const Json& value) {
  bool found = false;
  const auto set = [&](const char* name, auto& field) {
    if (key != name) return;
    found = true;
    WASMFORMER_CHECK(assign(field, value), "[config] "
                                               << key << " must be " << expected(field) << ", not "
                                               << value.dump(-1, ' ', false, Json::error_handler_t::replace));
  };
  config.visit(set);
  training.visit(set);
  if (!found) throw_unknown(key, config, training);
}

template <class T, class Low, class High>
void check_range(const char* key, T value, Low low, High high) {
  WASMFORMER_CHECK(value >= static_cast<T>(low) && value <= static_cast<T>(high),
                   "[config] " << key << " is " << value << "; it must be from " << low << " to " << high);
}

// A probability that leaves something over.
void check_rate(const char* key, double value) {
  WASMFORMER_CHECK(value >= 0 && value < 1,
                   "[config] " << key << " is " << value << "; it must be at least 0 and below 1");
}

void check_positive(const char* key, double value) {
  WASMFORMER_CHECK(value > 0 && std::isfinite(value),
                   "[config] " << key << " is " << value << "; it must be above 0");
}

// 1 GiB of floats: the most that 32-bit WebAssembly could hold in one matrix.
constexpr std::int64_t max_matrix_size = std::int64_t{1} << 28;

void check_matrix(const char* rows_key, Index rows, const char* cols_key, Index cols) {
  WASMFORMER_CHECK(std::int64_t{rows} * std::int64_t{cols} <= max_matrix_size,
                   "[config] " << rows_key << " " << rows << " times " << cols_key << " " << cols
                               << " is more than " << max_matrix_size);
}

void check_id(const char* key, TokenId id, Index source_size, Index target_size) {
  const Index size = std::min(source_size, target_size);
  WASMFORMER_CHECK(id >= 0 && id < size,
                   "[config] " << key << " is " << id << "; the vocabulary has ids from 0 to " << size - 1);
}

}  // namespace

void Config::check() const {
  check_range("source_vocab_size", source_vocab_size, 1, 1 << 22);
  check_range("target_vocab_size", target_vocab_size, 1, 1 << 22);
  check_range("d_model", d_model, 1, 1 << 14);
  check_range("encoder_layers", encoder_layers, 1, 1 << 10);
  check_range("decoder_layers", decoder_layers, 1, 1 << 10);
  check_range("num_heads", num_heads, 1, 1 << 10);
  check_range("ffn_dim", ffn_dim, 1, 1 << 18);
  check_range("max_length", max_length, 1, 1 << 20);
  check_matrix("source_vocab_size", source_vocab_size, "d_model", d_model);
  check_matrix("target_vocab_size", target_vocab_size, "d_model", d_model);
  check_matrix("ffn_dim", ffn_dim, "d_model", d_model);
  check_matrix("max_length", max_length, "d_model", d_model);
  WASMFORMER_CHECK(d_model % num_heads == 0,
                   "[config] d_model " << d_model << " is not a multiple of num_heads " << num_heads);
  WASMFORMER_CHECK(positions == Positions::learned || d_model % 2 == 0,
                   "[config] d_model is " << d_model << "; with sinusoidal positions it must be even");
  WASMFORMER_CHECK(tie_embeddings != TieEmbeddings::all || source_vocab_size == target_vocab_size,
                   "[config] source_vocab_size " << source_vocab_size << " and target_vocab_size "
                                                 << target_vocab_size
                                                 << " differ; tie_embeddings 'all' needs one vocabulary");
  check_positive("norm_epsilon", norm_epsilon);
  check_rate("dropout", dropout);
  check_rate("attention_dropout", attention_dropout);
  check_rate("activation_dropout", activation_dropout);
  // Pad and begin, which no search chooses, are only ever a target's; the end belongs to both sides.
  check_id("pad_id", pad_id, target_vocab_size, target_vocab_size);
  check_id("bos_id", bos_id, target_vocab_size, target_vocab_size);
  check_id("eos_id", eos_id, source_vocab_size, target_vocab_size);
}

void TrainingConfig::check() const {
  check_positive("learning_rate", learning_rate);
  check_range("warmup_steps", warmup_steps, schedule == Schedule::constant ? 0 : 1, 1 << 30);
  check_range("decay_steps", decay_steps, 1, 1 << 30);
  WASMFORMER_CHECK(schedule != Schedule::cosine || decay_steps > warmup_steps,
                   "[config] decay_steps is " << decay_steps << "; the cosine needs more than warmup_steps, "
                                              << warmup_steps);
  check_rate("beta1", beta1);
  check_rate("beta2", beta2);
  check_positive("epsilon", epsilon);
  check_rate("weight_decay", weight_decay);
  WASMFORMER_CHECK(optimizer != OptimizerKind::adam || weight_decay == 0,
                   "[config] weight_decay is " << weight_decay << "; it goes with optimizer adamw or sgd");
  WASMFORMER_CHECK(clip_norm >= 0 && std::isfinite(clip_norm),
                   "[config] clip_norm is " << clip_norm << "; it must be at least 0");
  check_rate("label_smoothing", label_smoothing);
  check_range("batch_tokens", batch_tokens, 1, 1 << 24);
}

Preset preset(const std::string& name) {
  Preset p;
  Config& c = p.config;
  TrainingConfig& t = p.training;
  const auto sizes = [&c](Index d_model, Index layers, Index num_heads, Index ffn_dim, double dropout) {
    c.d_model = d_model;
    c.encoder_layers = c.decoder_layers = layers;
    c.num_heads = num_heads;
    c.ffn_dim = ffn_dim;
    c.dropout = dropout;
  };
  const auto noam = [&](double peak, Index warmup_steps) {
    t.learning_rate = peak * std::sqrt(static_cast<double>(c.d_model) * static_cast<double>(warmup_steps));
    t.warmup_steps = warmup_steps;
  };
  if (name == "toy") {  // made-up tasks, which have more pairs than can be learnt by heart
    sizes(64, 2, 4, 256, 0);
    c.norm = NormPlace::pre;  // with post, some seeds do not learn to add
    t.schedule = Schedule::cosine;
    t.learning_rate = 3e-3, t.warmup_steps = 100, t.decay_steps = 500;
    t.label_smoothing = 0, t.clip_norm = 1;
    t.batch_tokens = 1024;
  } else if (name == "tiny") {  // a few thousand pairs in a tab
    sizes(64, 2, 4, 256, 0.1);
    noam(3e-3, 300);
    t.batch_tokens = 1024;
  } else if (name == "small") {
    sizes(256, 3, 4, 1024, 0.1);
    noam(1.5e-3, 2000);
  } else if (name == "base" || name == "big") {  // Vaswani et al. 2017, table 3 and section 5.3
    if (name == "base") sizes(512, 6, 8, 2048, 0.1);
    if (name == "big") sizes(1024, 6, 16, 4096, 0.3);
    t.learning_rate = 1;
    t.batch_tokens = 25000;
  } else if (name == "multi30k-tiny") {  // Wu et al. 2021, "Good for Misconceived Reasons"
    sizes(128, 4, 4, 256, 0.3);
    t.learning_rate = 2.5;
    t.warmup_steps = 2000;
  } else if (name == "kyubyong") {  // hparams.py of Kyubyong/transformer; Adam with TensorFlow's defaults
    sizes(512, 6, 8, 2048, 0.3);
    noam(3e-4, 4000);
    c.output_bias = false;
    c.norm_epsilon = 1e-8;
    t.beta2 = 0.999;
    t.epsilon = 1e-8;
  } else {
    throw Error("[config] there is no preset '" + name +
                "'; there are toy, tiny, small, base, big, multi30k-tiny and kyubyong");
  }
  return p;
}

void set_option(Config& config, TrainingConfig& training, const std::string& key, const std::string& value) {
  Json parsed = Json::parse(value, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_number() && !parsed.is_boolean()) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);  // what JSON does not write: .5, 1.
    const bool whole = !value.empty() && end == value.c_str() + value.size() && std::isfinite(number);
    parsed = whole ? Json(number) : Json(value);
  }
  assign_key(config, training, key, parsed);
}

std::string to_json(const Config& config, const TrainingConfig* training) {
  Json json = Json::object();
  const auto add = [&json](const char* key, const auto& field) { json[key] = to_value(field); };
  Config(config).visit(add);
  if (training) TrainingConfig(*training).visit(add);
  return json.dump();
}

void from_json(const std::string& text, Config& config, TrainingConfig* training) {
  // One flat object; refusing depth while parsing keeps hostile text from growing a deep tree.
  const auto flat = [](int depth, Json::parse_event_t event, Json&) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    WASMFORMER_CHECK(!opens || depth == 0, "[config] the JSON must be one flat object");
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, flat);
  } catch (const Json::exception& e) {
    throw Error(std::string("[config] this is not JSON: ") + e.what());
  }
  WASMFORMER_CHECK(json.is_object(), "[config] the JSON must be an object, not " << json.type_name());
  Config new_config = config;
  TrainingConfig new_training = training ? *training : TrainingConfig();
  for (const auto& [key, value] : json.items()) assign_key(new_config, new_training, key, value);
  config = new_config;
  if (training) *training = new_training;
}

}  // namespace wasmformer
