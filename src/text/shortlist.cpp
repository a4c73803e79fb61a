#include "text/shortlist.h"

#include <algorithm>

#include "schema/error.h"

namespace wasmformer {

void Shortlist::check(Index sources, Index targets) const {
  const auto size = static_cast<std::int32_t>(ids.size());
  WASMFORMER_CHECK(offsets.size() >= 2 && static_cast<Index>(offsets.size()) <= sources + 1, ErrorCode::shortlist,
                   "there are lists for " << static_cast<Index>(offsets.size()) - 1
                                          << " source pieces, but the vocabulary has " << sources);
  WASMFORMER_CHECK(first >= 0 && first <= targets && offsets.front() == 0 && offsets.back() == size &&
                       std::is_sorted(offsets.begin(), offsets.end()),
                   ErrorCode::shortlist, "the lists are damaged: their places do not fit the " << size << " ids");
  for (const std::int32_t id : ids)
    WASMFORMER_CHECK(id >= 0 && id < targets, ErrorCode::shortlist,
                     "target piece " << id << " is not below the " << targets << " of the vocabulary");
}

std::vector<TokenId> Shortlist::candidates(std::span<const TokenId> sources, bool is_shared, Index targets) const {
  std::vector<char> found(static_cast<std::size_t>(targets));
  std::fill_n(found.begin(), first, char{true});
  for (const TokenId source : sources) {
    if (is_shared) found[source] = true;
    const auto s = static_cast<std::size_t>(source);
    if (s + 1 >= offsets.size()) continue;
    for (std::int32_t i = offsets[s]; i < offsets[s + 1]; ++i) found[ids[i]] = true;
  }
  constexpr std::ptrdiff_t multiple = 8;
  std::ptrdiff_t missing = -std::count(found.begin(), found.end(), char{true}) & (multiple - 1);
  for (Index id = first; missing > 0 && id < targets; ++id) {
    if (found[id]) continue;
    found[id] = true;
    --missing;
  }
  std::vector<TokenId> result;
  for (Index id = 0; id < targets; ++id)
    if (found[id]) result.push_back(static_cast<TokenId>(id));
  return result;
}

}  // namespace wasmformer
