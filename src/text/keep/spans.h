// Kept spans: the parts of a text that are not translated.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "text/keep/kinds.h"
#include "text/keep/symbols.h"

namespace wasmformer {

// Positions in code points; `end` is exclusive.
struct KeptSpan {
  std::size_t begin = 0, end = 0;
  std::optional<KeepName> kind = {};  // none: the caller's own

  // Returns whether, unlike a name, it is outside the sentence.
  bool is_sign() const { return kind == KeepName::emoji || kind == KeepName::markup; }
};

// The spans of these kinds, in order, which do not overlap. `own` are the caller's, sorted, and take precedence.
std::vector<KeptSpan> find_kept_spans(std::u32string_view text, const KeepNames& names, const KnowsCharacter& knows,
                                      std::vector<KeptSpan> own = {});

}  // namespace wasmformer
