// The parts of a text of which some is kept. Edges are the kept spans, brackets, quotes and spaces at both ends; they
// are removed before translation and put back after it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "text/keep/spans.h"
#include "text/keep/typography.h"

namespace wasmformer {

struct KeptText {
  // Text of an edge, and the span that it is, if it is one.
  struct EdgePart {
    std::u32string text;  // as the target language writes it
    std::optional<KeptSpan> span = {};
  };
  struct InnerSpan {
    KeptSpan span;
    std::u32string text;         // as the target language writes it
    std::u32string symbol = {};  // the placeholder; empty: placed by attention
    std::size_t place = 0;       // index in `core`, in code points
    bool has_space_before = false, has_space_after = false;
  };

  std::u32string source = {};
  std::vector<EdgePart> lead = {}, tail = {};
  std::u32string core = {};  // for the model; empty if there is nothing to translate
  std::vector<InnerSpan> inner = {};
  Typography signs = {};
  std::string target_language = {};

  // Returns whether nothing was found: the text is translated as it is, with the space around it.
  bool is_plain() const;
  // Returns whether attention is needed to place a span.
  bool needs_attention() const {
    return std::ranges::any_of(inner, [](const InnerSpan& one) { return one.symbol.empty(); });
  }
};

}  // namespace wasmformer
