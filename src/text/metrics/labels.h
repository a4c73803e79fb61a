// Accuracy and F1 of predicted labels and tags.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schema/fields.h"
#include "wasmformer/types.h"

namespace wasmformer {

// Counts of one label or type of span.
struct Score {
  std::size_t right = 0, predicted = 0, expected = 0;
  double precision() const { return predicted == 0 ? 0 : static_cast<double>(right) / static_cast<double>(predicted); }
  double recall() const { return expected == 0 ? 0 : static_cast<double>(right) / static_cast<double>(expected); }
  double f1() const {
    const auto all = static_cast<double>(predicted + expected);
    return all == 0 ? 0 : 2 * static_cast<double>(right) / all;
  }
};

// Scores by label or type of span.
using Scores = std::map<std::string, Score>;
// Returns the sum of the counts, for micro averages.
Score total(const Scores& scores);
// The mean F1 over all labels that are predicted or expected.
double macro_f1(const Scores& scores);

// Counts by label: right if a text has it in both lists. The lists must have equal lengths.
Scores label_scores(const std::vector<Labels>& expected, const std::vector<Labels>& predicted);

// Tags[begin, end) belong to one span of this type.
struct TagSpan {
  std::size_t begin = 0, end = 0;
  std::string type;
  auto operator<=>(const TagSpan&) const = default;
};
// Spans of BIO tags as conlleval counts them (Tjong Kim Sang and De Meulder 2003): an I- after O or another type
// begins a span too.
std::vector<TagSpan> tag_spans(const std::vector<std::string>& tags);
// Returns whether all tags are O or begin with B- or I-.
bool are_spans(const std::vector<std::string>& tags);

// Schemes by the tag that begins a span (Tjong Kim Sang and Veenstra 1999): in iob2 always B-; in iob1 I-, and B- only
// right after a span of the same type; in any, either.
enum class TagScheme { iob2, iob1, any };
WASMFORMER_ENUM_NAMES(TagScheme, "iob2", "iob1", "any");
// Returns the scheme of these texts. One span in a hundred that begins otherwise is taken for a mistake.
TagScheme scheme_of(const std::vector<Labels>& texts);
// Returns whether the scheme lets `next` follow `before`, which is nullptr at the start of a text. `tags`: all of them;
// in iob2, I- begins the spans of a type that has no B-.
bool may_follow(const std::string* before, const std::string& next, const std::vector<std::string>& tags,
                TagScheme scheme);

// Spans count as right if begin, end and type are. Throws Error if the tags of a text differ in number.
Scores span_scores(const std::vector<Labels>& expected, const std::vector<Labels>& predicted);

}  // namespace wasmformer
