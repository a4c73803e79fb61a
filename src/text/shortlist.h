// A lexical shortlist: the target pieces that may translate each source piece, so that the output projection scores a
// few hundred of them and not the whole vocabulary (Devlin 2017, "Sharp Models on Dull Hardware").
#pragma once

#include <span>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct Shortlist {
  Index first = 0;                    // ids below this are always candidates
  std::vector<std::int32_t> offsets;  // source id s has ids[offsets[s]] up to, not including, ids[offsets[s + 1]]
  std::vector<std::int32_t> ids;      // ascending for each

  // Throws Error unless the offsets fit `sources` pieces, or fewer, and every id is below `targets`.
  void check(Index sources, Index targets) const;

  // Ascending, for all tokens of a sentence together, padded to a multiple of 8 as in Marian. With `is_shared` (one
  // vocabulary for both sides) the source pieces themselves are candidates too. All are below `targets`.
  std::vector<TokenId> candidates(std::span<const TokenId> sources, bool is_shared, Index targets) const;
};

}  // namespace wasmformer
