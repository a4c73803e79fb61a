#include "tasks/translate/banks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace wasmformer {
namespace {

// The places of the beam that each bank has, by what its candidates need. The banks that need least have the odd ones,
// and where there are more banks than places, they alone have any.
std::map<Index, Index> shares(std::span<const BankedCandidate> candidates, Index width, TokenId eos) {
  std::map<Index, Index> places;
  for (const BankedCandidate& c : candidates)
    if (c.candidate.id != eos) places[c.needed] = 0;
  if (places.empty()) return places;
  const Index banks = static_cast<Index>(places.size());
  Index odd = width % banks;
  for (auto& [needed, share] : places) {
    share = width / banks + (odd > 0 ? 1 : 0);
    odd = std::max<Index>(0, odd - 1);
  }
  return places;
}

}  // namespace

void choose_from_banks(std::span<BankedCandidate> candidates, Index width, TokenId eos,
                       std::vector<BeamChoice>& chosen) {
  std::sort(candidates.begin(), candidates.end(), [](const BankedCandidate& a, const BankedCandidate& b) {
    return std::tuple(-a.candidate.sum, a.candidate.parent, a.candidate.id) <
           std::tuple(-b.candidate.sum, b.candidate.parent, b.candidate.id);
  });
  const auto is_impossible = [](const BankedCandidate& c) {
    return c.candidate.sum == -std::numeric_limits<double>::infinity();
  };
  candidates = candidates.first(
      static_cast<std::size_t>(std::find_if(candidates.begin(), candidates.end(), is_impossible) - candidates.begin()));

  chosen.clear();
  std::map<Index, Index> places = shares(candidates, width, eos);
  Index met = 0, kept = 0;
  for (const BankedCandidate& c : candidates) {
    BeamOutcome outcome = BeamOutcome::crowded_out;
    if (c.candidate.id == eos) {
      if (met < width) outcome = BeamOutcome::ended;
    } else if (places[c.needed] > 0) {
      outcome = BeamOutcome::kept;
      --places[c.needed];
      ++kept;
    }
    if (c.needed == 0) ++met;
    chosen.push_back({c.candidate, outcome});
  }
  // Places that banks leave free go to the best of the others.
  for (BeamChoice& choice : chosen) {
    const bool is_left_out = choice.outcome == BeamOutcome::crowded_out && choice.candidate.id != eos;
    if (!is_left_out || kept == width) continue;
    choice.outcome = BeamOutcome::kept;
    ++kept;
  }
}

}  // namespace wasmformer
