// Translation: the jobs, and what their results look like in JavaScript.
#include "translate.h"

namespace wasmformer {

std::unique_ptr<Job> start(const ModelFile& model, const std::vector<std::string>& texts,
                           const TranslateOptions& options, Index first) {
  auto job = std::make_unique<Job>(model, pool(), texts, options, batch_tokens / options.beam_size);
  job->refuse_too_long(static_cast<std::size_t>(first));
  return job;
}
TranslateOptions translate_options(const ModelFile& model, const std::string& json) {
  return wasmformer::translate_options(json, model.transformer->config(), Naming::camel);
}
std::unique_ptr<Job> translator_start(const LoadedModel& translator, const std::vector<std::string>& texts,
                                      const std::string& options, Index first) {
  return start(translator.model(), texts, translate_options(translator.model(), options), first);
}

std::vector<std::vector<SourceToken>> translator_tokenize(const LoadedModel& translator,
                                                          const std::vector<std::string>& texts,
                                                          const std::string& options) {
  return translator.tokenize(texts, translate_options(translator.model(), options));
}

}  // namespace wasmformer

EMSCRIPTEN_BINDINGS(wasmformer_translate) {
  using namespace emscripten;
  using namespace wasmformer;
  register_array<float>("Float32Array");
  register_array<TokenId>("number[]");
  register_array<Index>("number[]");
  register_array<SourceToken>("SourceToken[]");
  register_array<std::vector<SourceToken>>("SourceToken[][]");
  register_array<Candidate>("Candidate[]");
  register_array<TargetToken>("TargetToken[]");
  register_array<Hypothesis>("Hypothesis[]");
  register_array<Kept>("Kept[]");
  register_array<BeamNode>("BeamNode[]");
  register_array<LayerInternals>("LayerInternals[]");
  register_array<Translation>("Translation[]");
  register_optional<Index>();
  register_optional<std::vector<Candidate>>();
  register_optional<std::vector<BeamNode>>();
  register_optional<MatrixData>();
  register_optional<AttentionInternals>();
  register_optional<Attention>();
  register_optional<AttentionMaps>();
  register_optional<Internals>();

  value_object<SourceToken>("SourceToken").field("piece", &SourceToken::piece).field("id", &SourceToken::id);
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
  value_object<Attention>("Attention")
      .field("encoder", &Attention::encoder)
      .field("decoder", &Attention::decoder)
      .field("cross", &Attention::cross);
  value_object<MatrixData>("MatrixData")
      .field("rows", &MatrixData::rows)
      .field("columns", &MatrixData::columns)
      .field("data", &MatrixData::data);
  value_object<AttentionInternals>("AttentionInternals")
      .field("queries", &AttentionInternals::queries)
      .field("keys", &AttentionInternals::keys)
      .field("values", &AttentionInternals::values)
      .field("output", &AttentionInternals::output)
      .field("projected", &AttentionInternals::projected);
  value_object<FeedForwardInternals>("FeedForwardInternals")
      .field("hidden", &FeedForwardInternals::hidden)
      .field("output", &FeedForwardInternals::output);
  value_object<LayerInternals>("LayerInternals")
      .field("selfAttention", &LayerInternals::self_attention)
      .field("crossAttention", &LayerInternals::cross_attention)
      .field("afterSelfAttention", &LayerInternals::after_self_attention)
      .field("afterCrossAttention", &LayerInternals::after_cross_attention)
      .field("feedForward", &LayerInternals::feed_forward)
      .field("afterFeedForward", &LayerInternals::after_feed_forward);
  value_object<StackInternals>("StackInternals")
      .field("tokenEmbedding", &StackInternals::token_embedding)
      .field("positions", &StackInternals::positions)
      .field("layers", &StackInternals::layers)
      .field("output", &StackInternals::output);
  value_object<Internals>("Internals").field("encoder", &Internals::encoder).field("decoder", &Internals::decoder);
  value_object<BeamNode>("BeamNode")
      .field("piece", &BeamNode::piece)
      .field("id", &BeamNode::id)
      .field("logProbability", &BeamNode::log_probability)
      .field("parent", &BeamNode::parent)
      .field("sum", &BeamNode::sum)
      .field("score", &BeamNode::score)
      .field("length", &BeamNode::length)
      .field("state", &BeamNode::state)
      .field("reason", &BeamNode::reason)
      .field("hypothesis", &BeamNode::hypothesis);
  value_object<KeptPart>("KeptText")
      .field("text", &KeptPart::text)
      .field("start", &KeptPart::start)
      .field("end", &KeptPart::end);
  value_object<Kept>("Kept").field("kind", &Kept::kind).field("source", &Kept::source).field("target", &Kept::target);
  value_object<Hypothesis>("Hypothesis")
      .field("text", &Hypothesis::text)
      .field("score", &Hypothesis::score)
      .field("targetTokens", &Hypothesis::tokens);
  value_object<Translation>("Translation")
      .field("text", &Translation::text)
      .field("score", &Translation::score)
      .field("targetTokens", &Translation::tokens)
      .field("sourceTokens", &Translation::source_tokens)
      .field("kept", &Translation::kept)
      .field("alternatives", &Translation::alternatives)
      .field("attention", &Translation::attention)
      .field("beam", &Translation::beam)
      .field("internals", &Translation::internals);

  class_<Job>("Job")
      .function("step", &take_turn<Job>)
      .function("stepToken", &Job::step)
      .function("partial", &Job::partial)
      .function("result", &Job::take);
}
