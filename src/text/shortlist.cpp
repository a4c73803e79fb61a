#include "text/shortlist.h"

#include <algorithm>
#include <set>

#include "tensor/check.h"

namespace wasmformer {

void Shortlist::check(Index sources, Index targets) const {
  const auto size = static_cast<std::int32_t>(ids.size());
  WASMFORMER_CHECK(offsets.size() >= 2 && static_cast<Index>(offsets.size()) <= sources + 1,
                   "[shortlist] there are lists for " << static_cast<Index>(offsets.size()) - 1
                                                      << " source pieces, but the vocabulary has " << sources);
  WASMFORMER_CHECK(first >= 0 && first <= targets && offsets.front() == 0 && offsets.back() == size &&
                       std::is_sorted(offsets.begin(), offsets.end()),
                   "[shortlist] the lists are damaged: their places do not fit the " << size << " ids");
  for (const std::int32_t id : ids)
    WASMFORMER_CHECK(id >= 0 && id < targets,
                     "[shortlist] target piece " << id << " is not below the " << targets << " of the vocabulary");
}

std::vector<TokenId> Shortlist::candidates(std::span<const TokenId> sources, bool is_shared, Index targets) const {
  std::set<TokenId> found;
  for (Index id = 0; id < first; ++id) found.insert(static_cast<TokenId>(id));
  for (const TokenId source : sources) {
    if (is_shared) found.insert(source);
    const auto s = static_cast<std::size_t>(source);
    if (s + 1 < offsets.size()) found.insert(ids.begin() + offsets[s], ids.begin() + offsets[s + 1]);
  }
  constexpr std::size_t multiple = 8;
  for (auto id = static_cast<TokenId>(first); found.size() % multiple != 0 && id < targets; ++id) found.insert(id);
  return {found.begin(), found.end()};
}

}  // namespace wasmformer
