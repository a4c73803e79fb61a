// A lexical shortlist: the target pieces that may translate each source piece, so that the output projection scores a
// few hundred of them and not the whole vocabulary (Devlin 2017, "Sharp Models on Dull Hardware").
#pragma once

#include <span>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

struct Shortlist {
  Index first = 0;                    // so many ids from 0 on are always candidates
  std::vector<std::int32_t> offsets;  // those of source id s are ids[offsets[s]] to before ids[offsets[s + 1]]
  std::vector<std::int32_t> ids;      // ascending for each

  // Throws Error unless the offsets fit `sources` pieces, or fewer, and every id is below `targets`.
  void check(Index sources, Index targets) const;

  // Ascending: for all tokens of a batch together, as Marian takes them, so that their number is a multiple of 8. With
  // `is_shared`, a vocabulary of both sides, the sources themselves too.
  std::vector<TokenId> candidates(std::span<const TokenId> sources, bool is_shared) const;
};

}  // namespace wasmformer
