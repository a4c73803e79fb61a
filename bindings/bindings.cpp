// What JavaScript sees of the C++ side; bindings/js/module.ts says the same in TypeScript. Declarations only:
// lists cross as plain arrays and structs as plain objects, so that only Translator and Job have to be
// deleted.
#include "arrays.h"
#include "decode/translator.h"

using namespace emscripten;
using namespace wasmformer;

namespace {

// The module's threads, made by its first call: a thread that has ended frees its worker for a next one only
// when JavaScript goes on, so they stay.
ThreadPool& pool(int threads) {
  static ThreadPool pool(threads);
  return pool;
}

int start_threads(int threads) { return pool(threads).size(); }

// The file is copied once, and kept no longer than it is read.
std::unique_ptr<Translator> load(const Bytes& file) {
  return std::make_unique<Translator>(from_bytes(file), pool(1));
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

// Enumerations are their numbers.
int kind(const AttentionHead& head) { return head.attention; }
void set_kind(AttentionHead& head, int value) { head.attention = static_cast<AttentionHead::Kind>(value); }
int fate(const BeamNode& node) { return static_cast<int>(node.fate); }
void set_fate(BeamNode& node, int value) { node.fate = static_cast<Fate>(value); }

}  // namespace

EMSCRIPTEN_BINDINGS(wasmformer) {
  register_type<Bytes>("Uint8Array");
  register_array<std::string>("string[]");
  register_array<float>("Float32Array");
  register_array<TokenId>("number[]");
  register_array<Index>("number[]");
  register_array<AttentionHead>("AttentionHead[]");
  register_array<Candidate>("Candidate[]");
  register_array<TargetToken>("TargetToken[]");
  register_array<Hypothesis>("Hypothesis[]");
  register_array<BeamNode>("BeamNode[]");
  register_array<LayerInternals>("LayerInternals[]");
  register_array<Translation>("Translation[]");
  register_optional<Sampling>();
  register_optional<AttentionMaps>();
  register_optional<Numbers>();
  register_optional<AttentionInternals>();
  register_optional<Internals>();

  value_object<Sampling>("Sampling")
      .field("temperature", &Sampling::temperature)
      .field("topK", &Sampling::top_k)
      .field("topP", &Sampling::top_p)
      .field("seed", &seed, &set_seed);
  value_object<AttentionHead>("AttentionHead")
      .field("attention", &kind, &set_kind)
      .field("layer", &AttentionHead::layer)
      .field("head", &AttentionHead::head);
  value_object<TranslateOptions>("TranslateOptions")
      .field("beamSize", &TranslateOptions::beam_size)
      .field("lengthPenalty", &TranslateOptions::length_penalty)
      .field("nBest", &TranslateOptions::n_best)
      .field("maxLength", &TranslateOptions::max_length)
      .field("sampling", &TranslateOptions::sampling)
      .field("prefix", &TranslateOptions::prefix)
      .field("prefixIds", &TranslateOptions::prefix_ids)
      .field("maskedSource", &TranslateOptions::masked_source)
      .field("maskedHeads", &TranslateOptions::masked_heads)
      .field("attention", &TranslateOptions::attention)
      .field("topTokens", &TranslateOptions::top_tokens)
      .field("beamTrace", &TranslateOptions::beam_trace)
      .field("internals", &TranslateOptions::internals);

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
  value_object<Numbers>("Numbers")
      .field("rows", &Numbers::rows)
      .field("columns", &Numbers::columns)
      .field("data", &Numbers::data);
  value_object<AttentionInternals>("AttentionInternals")
      .field("queries", &AttentionInternals::queries)
      .field("keys", &AttentionInternals::keys)
      .field("values", &AttentionInternals::values)
      .field("output", &AttentionInternals::output);
  value_object<LayerInternals>("LayerInternals")
      .field("selfAttention", &LayerInternals::self_attention)
      .field("crossAttention", &LayerInternals::cross_attention)
      .field("afterSelfAttention", &LayerInternals::after_self_attention)
      .field("afterCrossAttention", &LayerInternals::after_cross_attention)
      .field("afterFeedForward", &LayerInternals::after_feed_forward);
  value_object<StackInternals>("StackInternals")
      .field("tokenEmbedding", &StackInternals::token_embedding)
      .field("positions", &StackInternals::positions)
      .field("layers", &StackInternals::layers)
      .field("output", &StackInternals::output);
  value_object<Internals>("Internals")
      .field("encoder", &Internals::encoder)
      .field("decoder", &Internals::decoder);
  value_object<BeamNode>("BeamNode")
      .field("piece", &BeamNode::piece)
      .field("id", &BeamNode::id)
      .field("logProbability", &BeamNode::log_probability)
      .field("parent", &BeamNode::parent)
      .field("sum", &BeamNode::sum)
      .field("score", &BeamNode::score)
      .field("length", &BeamNode::length)
      .field("fate", &fate, &set_fate)
      .field("hypothesis", &BeamNode::hypothesis);
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
      .field("cross", &Translation::cross)
      .field("beam", &Translation::beam)
      .field("internals", &Translation::internals);

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
