#include "tasks/translate/learner.h"

#include <cmath>

#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

// The same weights as floats, without dropout.
std::unique_ptr<Transformer> float_copy(const Transformer& from) {
  std::vector<const Parameter*> weights;
  from.visit([&](const ParameterInfo&, const Parameter& p) { weights.push_back(&p); });
  Config config = from.config();
  config.dropout = config.attention_dropout = config.activation_dropout = 0;
  auto copy = std::make_unique<Transformer>(config);
  std::size_t i = 0;
  copy->visit([&](const ParameterInfo&, Parameter& p) { p.value = weights[i++]->matrix(); });
  copy->enable_gradients();
  return copy;
}

ModelFile learning_copy(const ModelFile& model) {
  return {.transformer = float_copy(*model.transformer),
          .source_tokenizer = model.source_tokenizer,
          .target_tokenizer = model.target_tokenizer,
          .metadata = model.metadata,
          .shortlist = model.shortlist};
}

std::vector<SourceToken> shown(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::vector<SourceToken> tokens;
  for (const TokenId id : ids) {
    SourceToken& token = tokens.emplace_back();
    token.piece = tokenizer.piece(id);
    token.id = id;
  }
  return tokens;
}

}  // namespace

Learner::Learner(const ModelFile& model, ThreadPool& pool)
    : model_(learning_copy(model)), pool_(pool), tape_(pool, /*recording=*/true) {}

std::vector<TokenId> Learner::read(const Tokenizer& tokenizer, const std::string& text, const char* side) const {
  WASMFORMER_CHECK(is_utf8(text), ErrorCode::text, "the " << side << " is not UTF-8");
  std::vector<TokenId> ids = tokenizer.encode(text);
  WASMFORMER_CHECK(!ids.empty(), ErrorCode::no_text, "the " << side << " is empty", {"side", side});
  const Config& config = model_.transformer->config();
  ids.push_back(config.eos_id);
  const auto tokens = static_cast<Index>(ids.size());
  WASMFORMER_CHECK(
      tokens <= config.max_length, ErrorCode::too_long,
      "the " << side << " has " << tokens << " tokens, but at most " << config.max_length << " are possible",
      {"number", 1}, {"tokens", tokens}, {"most", config.max_length});
  return ids;
}

Lesson Learner::backward(const std::string& source, const std::string& target) {
  const std::vector<TokenId> source_ids = read(*model_.source_tokenizer, source, "source");
  const std::vector<TokenId> target_ids = read(*model_.target_tokenizer, target, "target");
  if (is_packed_) model_.transformer->unpack();
  is_packed_ = false;
  return {.source_tokens = shown(*model_.source_tokenizer, source_ids),
          .target_tokens = shown(*model_.target_tokenizer, target_ids),
          .pass = backward_pass(*model_.transformer, tape_, source_ids, target_ids)};
}

Lesson Learner::step(const std::string& source, const std::string& target, double rate) {
  Lesson lesson = backward(source, target);
  WASMFORMER_CHECK(std::isfinite(lesson.pass.parameter_norm), ErrorCode::gradient_not_finite,
                   "the gradient of step " << steps_ + 1 << " is not finite", {"step", steps_ + 1});
  Transformer& transformer = *model_.transformer;
  if (beginning_.empty()) {
    std::vector<Matrix> weights;
    transformer.visit([&](const ParameterInfo&, Parameter& p) { weights.push_back(p.value); });
    beginning_ = std::move(weights);
  }
  const auto scale = static_cast<Scalar>(rate);
  transformer.visit([&](const ParameterInfo&, Parameter& p) { p.value -= scale * p.gradient; });
  ++steps_;
  return lesson;
}

void Learner::undo() {
  if (is_packed_) model_.transformer->unpack();
  is_packed_ = false;
  steps_ = 0;
  std::size_t i = 0;
  if (!beginning_.empty())
    model_.transformer->visit([&](const ParameterInfo&, Parameter& p) { p.value = beginning_[i++]; });
}

const ModelFile& Learner::packed_model() {
  if (!is_packed_) model_.transformer->pack();
  is_packed_ = true;
  return model_;
}

}  // namespace wasmformer
