// Options and results of classifying and tagging. visit() has the meaning and the range of each option.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "wasmformer/translation.h"

namespace wasmformer {

struct AnnotateOptions {
  Index top_labels = 0;
  bool attention = false;
  std::vector<AttentionHead> masked_heads = {};
  bool split = true;
  bool encoder_alone = false;
  bool keeps_scores = false;  // for choose_again(); decided by the caller

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"top_labels", "labels to return, the most probable first; 0 for all", at_least(0), "top"}, top_labels);
    v({"attention", "return the attention of the encoder", {}, ""}, attention);
    v({"masked_heads", "attention heads whose output is set to 0", {}, "mask-heads"}, masked_heads);
    v({"split", "split texts into words; if off, spaces separate the words"}, split);
    v({"encoder_alone", "leave out the linear models of words, and what is added to the score of the tag O"},
      encoder_alone);
  }
};

struct LabelProbability {
  std::string label;
  double probability = 0;
};

struct TaggedWord {
  std::size_t begin = 0, size = 0;  // in the text, bytes of UTF-8
  std::string tag;
  double probability = 0;
};

struct Annotation {
  std::vector<LabelProbability> labels;  // most probable first; with multi_label each is independent
  std::vector<TaggedWord> words;
  std::vector<SourceToken> tokens;
  std::optional<AttentionMaps> attention;  // maps of the first max_length tokens
  bool is_truncated = false;               // a class was chosen by the first max_length tokens only
};

}  // namespace wasmformer
