// Labelled and tagged files, and how well a model finds their labels.
#pragma once

#include <string>

#include "tasks/annotate/labels.h"

namespace wasmformer {

struct AnnotatedFiles {
  std::string labels;  // LABEL TAB TEXT
  std::string tags;    // TOKEN TAB TAG, an empty line after each sentence
  bool any() const { return !labels.empty() || !tags.empty(); }
  Objective objective() const {
    return labels.empty() ? Objective::tag : tags.empty() ? Objective::classify : Objective::classify_and_tag;
  }
};
// With both files, the labels of the first for the texts of the second. Throws Error naming the file.
ParallelText read_annotated(const AnnotatedFiles& files);

// Prints the scores of `model` on these files.
void evaluate_annotations(const std::string& model, const AnnotatedFiles& files, Index batch_tokens, int threads,
                          bool json);

}  // namespace wasmformer
