// Labeled and tagged files, and how well a model predicts their labels.
#pragma once

#include <memory>
#include <string>

#include "tasks/annotate/inference.h"

namespace wasmformer {

struct AnnotatedFiles {
  std::string labels;  // LABEL TAB TEXT
  std::string tags;    // TOKEN TAB TAG, an empty line after each sentence
  bool any() const { return !labels.empty() || !tags.empty(); }
  bool fit(const AnnotatedFiles& others) const {
    return labels.empty() == others.labels.empty() && tags.empty() == others.tags.empty();
  }
};
// With both files, the labels of the first for the texts of the second. Throws Error naming the file.
std::shared_ptr<AnnotatedTexts> read_annotated(const AnnotatedFiles& files);

// Prints the scores of `model` on these files.
void evaluate_annotations(const std::string& model, const AnnotatedFiles& files, const AnnotateOptions& options,
                          Index batch_tokens, int threads, bool json);

}  // namespace wasmformer
