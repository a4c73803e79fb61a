// What JavaScript sees of the C++ side; bindings/js/module.ts says the same in TypeScript. Declarations only:
// lists cross as plain arrays and structs as plain objects, so that only Translator and Job have to be
// deleted.
#include <emscripten/bind.h>

#include "decode/translator.h"

using namespace emscripten;
using namespace wasmformer;

namespace emscripten::internal {

// A vector is an array that JavaScript owns.
template <class T>
struct BindingType<std::vector<T>> {
  using Value = BindingType<val>;
  using WireType = Value::WireType;
  static WireType toWireType(const std::vector<T>& items, rvp::default_tag tag) {
    return Value::toWireType(val::array(items.begin(), items.end()), tag);
  }
  static std::vector<T> fromWireType(WireType wire) { return vecFromJSArray<T>(Value::fromWireType(wire)); }
};

// Floats are copied as a whole, into a Float32Array.
template <>
struct BindingType<std::vector<float>> {
  using Value = BindingType<val>;
  using WireType = Value::WireType;
  static WireType toWireType(const std::vector<float>& items, rvp::default_tag tag) {
    return Value::toWireType(val(typed_memory_view(items.size(), items.data())).call<val>("slice"), tag);
  }
  static std::vector<float> fromWireType(WireType wire) {
    return convertJSArrayToNumberVector<float>(Value::fromWireType(wire));
  }
};

}  // namespace emscripten::internal

namespace {

EMSCRIPTEN_DECLARE_VAL_TYPE(Bytes);

// The module's threads, made by its first call: a thread that has ended frees its worker for a next one only
// when JavaScript goes on, so they stay.
ThreadPool& pool(int threads) {
  static ThreadPool pool(threads);
  return pool;
}

int start_threads(int threads) { return pool(threads).size(); }

// The file is copied once, and kept no longer than it is read.
std::unique_ptr<Translator> load(const Bytes& file) {
  std::string bytes(file["length"].as<std::size_t>(), '\0');
  val(typed_memory_view(bytes.size(), reinterpret_cast<std::uint8_t*>(bytes.data()))).call<void>("set", file);
  return std::make_unique<Translator>(bytes, pool(1));
}

std::string config(const Translator& translator) { return to_json(translator.model().transformer->config()); }

using Job = Translator::Job;
std::unique_ptr<Job> start(const Translator& translator, const std::vector<std::string>& texts,
                           const TranslateOptions& options) {
  return std::unique_ptr<Job>(new Job(translator.start(texts, options)));
}

TranslateOptions default_options() { return {}; }
Sampling default_sampling() { return {}; }

// Numbers of JavaScript are exact up to 2^53.
double seed(const Sampling& sampling) { return static_cast<double>(sampling.seed); }
void set_seed(Sampling& sampling, double value) { sampling.seed = static_cast<std::uint64_t>(value); }

template <class T>
void register_array(const char* type) {
  internal::_embind_register_user_type(internal::TypeID<std::vector<T>>::get(), type);
}

}  // namespace

EMSCRIPTEN_BINDINGS(wasmformer) {
  register_type<Bytes>("Uint8Array");
  register_array<std::string>("string[]");
  register_array<float>("Float32Array");
  register_array<Candidate>("Candidate[]");
  register_array<TargetToken>("TargetToken[]");
  register_array<Hypothesis>("Hypothesis[]");
  register_array<Translation>("Translation[]");
  register_optional<Sampling>();
  register_optional<AttentionMaps>();

  value_object<Sampling>("Sampling")
      .field("temperature", &Sampling::temperature)
      .field("topK", &Sampling::top_k)
      .field("topP", &Sampling::top_p)
      .field("seed", &seed, &set_seed);
  value_object<TranslateOptions>("TranslateOptions")
      .field("beamSize", &TranslateOptions::beam_size)
      .field("lengthPenalty", &TranslateOptions::length_penalty)
      .field("nBest", &TranslateOptions::n_best)
      .field("maxLength", &TranslateOptions::max_length)
      .field("sampling", &TranslateOptions::sampling)
      .field("prefix", &TranslateOptions::prefix)
      .field("attention", &TranslateOptions::attention)
      .field("topTokens", &TranslateOptions::top_tokens);

  value_object<Candidate>("Candidate")
      .field("piece", &Candidate::piece)
      .field("id", &Candidate::id)
      .field("logProbability", &Candidate::log_probability);
  value_object<TargetToken>("TargetToken")
      .field("piece", &TargetToken::piece)
      .field("id", &TargetToken::id)
      .field("logProbability", &TargetToken::log_probability)
      .field("top", &TargetToken::top);
  value_object<AttentionMaps>("AttentionMaps")
      .field("layers", &AttentionMaps::layers)
      .field("heads", &AttentionMaps::heads)
      .field("rows", &AttentionMaps::rows)
      .field("columns", &AttentionMaps::columns)
      .field("data", &AttentionMaps::data);
  value_object<Hypothesis>("Hypothesis")
      .field("text", &Hypothesis::text)
      .field("score", &Hypothesis::score)
      .field("targetTokens", &Hypothesis::tokens);
  value_object<Translation>("Translation")
      .field("text", &Translation::text)
      .field("score", &Translation::score)
      .field("targetTokens", &Translation::tokens)
      .field("sourceTokens", &Translation::source_tokens)
      .field("alternatives", &Translation::alternatives)
      .field("encoder", &Translation::encoder)
      .field("decoder", &Translation::decoder)
      .field("cross", &Translation::cross);

  class_<Job>("Job")
      .function("step", &Job::step)
      .function("partial", &Job::partial)
      .function("result", &Job::result);
  class_<Translator>("Translator").function("start", &start).function("config", &config);

  function("startThreads", &start_threads);
  function("load", &load);
  function("defaultOptions", &default_options);
  function("defaultSampling", &default_sampling);
}
