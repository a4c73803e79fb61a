// Constraints on the words of a translation (lexically constrained decoding: Post and Vilar 2018; Hu et
// al. 2019): terms of a glossary, placeholders that stand exactly once, tokens that are forbidden. A search takes a
// list of them for each sentence (SearchInput::constraints); they hold in every hypothesis that it returns.
#pragma once

#include <limits>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

// A sequence of pieces with the number of times that it must, and may, stand in the translation.
//   exactly once, where source token 3 is translated:  {.spellings = {{id}}, .least = 1, .most = 1, .places = {{3, 1}}}
//   never:                                         {.spellings = {{id}}, .most = 0}
struct Constraint {
  static constexpr int any_number = std::numeric_limits<int>::max();

  // Any of these counts as one occurrence. None is empty, and none has the pad, begin or end token.
  std::vector<std::vector<TokenId>> spellings;
  int least = 0;
  int most = any_number;
  // The source tokens that the occurrences translate, as spans of SearchInput::source: an occurrence begins where the
  // cross-attention of the hypothesis has come to one of them. None: wherever the model finds it most probable.
  std::vector<Span> places = {};
  // True if it counts only as a whole word: not next to letters or digits of other pieces.
  bool is_word = false;
};

}  // namespace wasmformer
