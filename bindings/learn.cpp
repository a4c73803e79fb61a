// Figure 1 backwards: a model that learns from one sentence, and what its gradients look like in JavaScript.
#include "annotate.h"
#include "tasks/translate/learner.h"
#include "translate.h"

namespace wasmformer {
namespace {

std::string name_of(FigurePart part) {
  switch (part) {
    case FigurePart::embedding:
      return "embedding";
    case FigurePart::self_attention:
      return "selfAttention";
    case FigurePart::self_attention_norm:
      return "selfAttentionNorm";
    case FigurePart::cross_attention:
      return "crossAttention";
    case FigurePart::cross_attention_norm:
      return "crossAttentionNorm";
    case FigurePart::feed_forward:
      return "feedForward";
    case FigurePart::feed_forward_norm:
      return "feedForwardNorm";
    case FigurePart::output_norm:
      return "outputNorm";
    case FigurePart::output:
      return "output";
  }
  return "";
}

std::string name_of(Stack stack) {
  if (stack == Stack::encoder) return "encoder";
  return stack == Stack::decoder ? "decoder" : "output";
}

// BoxGradient and BackwardPass in bindings/js/shared/learner-types.ts.
struct BoxValue {
  std::string stack, part;
  std::optional<Index> layer;
  double norm = 0, parameter_norm = 0;
  std::vector<float> tokens, heads;
};
struct LessonValue {
  double loss = 0, parameter_norm = 0;
  std::vector<float> losses;
  std::vector<SourceToken> source_tokens, target_tokens;
  std::vector<BoxValue> boxes;
};

LessonValue value_of(Lesson lesson) {
  BackwardPass& pass = lesson.pass;
  LessonValue value{.loss = pass.loss,
                    .parameter_norm = pass.parameter_norm,
                    .losses = std::move(pass.losses),
                    .source_tokens = std::move(lesson.source_tokens),
                    .target_tokens = std::move(lesson.target_tokens),
                    .boxes = {}};
  for (BoxGradient& box : pass.boxes) {
    std::optional<Index> layer;
    if (box.layer != no_layer) layer = box.layer;
    value.boxes.push_back({.stack = name_of(box.stack),
                           .part = name_of(box.part),
                           .layer = layer,
                           .norm = box.norm,
                           .parameter_norm = box.parameter_norm,
                           .tokens = std::move(box.tokens),
                           .heads = std::move(box.heads)});
  }
  return value;
}

std::unique_ptr<Learner> translator_learner(const LoadedModel& translator) {
  return std::make_unique<Learner>(translator.model(), pool());
}
LessonValue learner_backward(Learner& learner, const std::string& source, const std::string& target) {
  return value_of(learner.backward(source, target));
}
LessonValue learner_step(Learner& learner, const std::string& source, const std::string& target, double rate) {
  return value_of(learner.step(source, target, rate));
}
std::unique_ptr<Job> learner_start(Learner& learner, const std::vector<std::string>& texts, const std::string& options,
                                   Index first) {
  const ModelFile& model = learner.packed_model();
  return start(model, texts, translate_options(model, options), first);
}
std::unique_ptr<Annotations> learner_annotate(Learner& learner, const std::vector<std::string>& texts,
                                              const std::string& options, const std::string& use) {
  return std::make_unique<Annotations>(learner.packed_model(), texts, options, use);
}

}  // namespace
}  // namespace wasmformer

EMSCRIPTEN_BINDINGS(wasmformer_learn) {
  using namespace emscripten;
  using namespace wasmformer;
  register_array<BoxValue>("BoxGradient[]");
  value_object<BoxValue>("BoxGradient")
      .field("stack", &BoxValue::stack)
      .field("part", &BoxValue::part)
      .field("layer", &BoxValue::layer)
      .field("norm", &BoxValue::norm)
      .field("parameterNorm", &BoxValue::parameter_norm)
      .field("tokens", &BoxValue::tokens)
      .field("heads", &BoxValue::heads);
  value_object<LessonValue>("BackwardPass")
      .field("loss", &LessonValue::loss)
      .field("parameterNorm", &LessonValue::parameter_norm)
      .field("losses", &LessonValue::losses)
      .field("sourceTokens", &LessonValue::source_tokens)
      .field("targetTokens", &LessonValue::target_tokens)
      .field("boxes", &LessonValue::boxes);
  class_<Learner>("Learner")
      .function("backward", &learner_backward)
      .function("step", &learner_step)
      .function("undo", &Learner::undo)
      .function("start", &learner_start)
      .function("annotate", &learner_annotate);
  function("learner", &translator_learner);
}
