// Classifying and tagging with a model in the module, loaded or in training.
#pragma once

#include "module.h"
#include "tasks/annotate/inference.h"
#include "tasks/translate/translator.h"

namespace wasmformer {

// One text: JSON of Annotation in bindings/js/shared/types.ts, without its attention.
struct AnnotationResult {
  std::string json;
  std::optional<AttentionMaps> attention;
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
  const ModelFile& model_;
  std::vector<std::string> texts_;
  AnnotationJob job_;
};

std::unique_ptr<Annotations> translator_annotate(const Translator& model, const std::vector<std::string>& texts,
                                                 const std::string& options, const std::string& use);

}  // namespace wasmformer
