// Classifying and tagging with a model in the module, loaded or in training.
#pragma once

#include "module.h"
#include "tasks/annotate/inference.h"
#include "tasks/translate/translator.h"

namespace wasmformer {

// A part of a text; `start` and `end` count UTF-16 units, as JavaScript does.
struct TextPart {
  std::string text;
  std::size_t start = 0, end = 0;
};
struct TaggedToken : TextPart {
  std::string tag;
  double probability = 0;
};
struct TaggedSpan : TextPart {
  std::string type;
  double probability = 0;  // the mean of its words
};
struct EncoderAttention {
  AttentionMaps encoder;
};

// Annotation of one text, as declared in bindings/js/shared/types.ts.
struct AnnotationResult {
  std::vector<SourceToken> source_tokens;
  std::optional<std::vector<LabelProbability>> labels;
  std::optional<bool> is_truncated;
  std::optional<std::vector<TaggedToken>> tokens;
  std::optional<std::vector<TaggedSpan>> spans;
  std::optional<EncoderAttention> attention;
};

// Finds the classes and tags of texts, a batch per step.
class Annotations {
 public:
  // `use`: "classify" or "tag", whose options these are.
  Annotations(const ModelFile& model, std::vector<std::string> texts, const std::string& options,
              const std::string& use);

  bool step() { return job_.step(); }
  std::vector<AnnotationResult> result();

 private:
  AnnotationResult annotation(const std::string& text, Annotation&& found) const;

  const ModelFile& model_;
  std::vector<std::string> texts_;
  AnnotationJob job_;
};

std::unique_ptr<Annotations> translator_annotate(const LoadedModel& model, const std::vector<std::string>& texts,
                                                 const std::string& options, const std::string& use);

}  // namespace wasmformer
