#include "tasks/translate/beam.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace wasmformer {

double beam_score(double sum, Index length, double length_penalty) {
  return sum / std::pow((5 + static_cast<double>(length)) / 6, length_penalty);
}

std::size_t choose_candidates(std::span<BeamCandidate> candidates, Index width, TokenId eos,
                              std::vector<BeamChoice>& chosen) {
  const std::size_t beam = static_cast<std::size_t>(width);
  const std::size_t considered = std::min(candidates.size(), 2 * beam);
  const auto by_sum = [](const BeamCandidate& a, const BeamCandidate& b) {
    return std::tuple(-a.sum, a.parent, a.id) < std::tuple(-b.sum, b.parent, b.id);
  };
  const auto end_of_considered = candidates.begin() + static_cast<std::ptrdiff_t>(considered);
  std::partial_sort(candidates.begin(), end_of_considered, candidates.end(), by_sum);

  chosen.clear();
  std::size_t kept = 0;
  for (std::size_t rank = 0; rank < considered; ++rank) {
    const BeamCandidate& candidate = candidates[rank];
    // Such as pad, where there are fewer tokens than the beam is wide.
    const bool is_impossible = candidate.sum == -std::numeric_limits<double>::infinity();
    if (is_impossible) continue;
    BeamOutcome outcome = BeamOutcome::crowded_out;
    if (candidate.id == eos) {
      if (rank < beam) outcome = BeamOutcome::ended;
    } else if (kept < beam) {
      outcome = BeamOutcome::kept;
      ++kept;
    }
    chosen.push_back({candidate, outcome});
  }
  return considered;
}

std::vector<BeamCandidate> best_of_other_parents(std::span<BeamCandidate> candidates, std::size_t considered) {
  const std::span<BeamCandidate> first = candidates.first(considered), rest = candidates.subspan(considered);
  std::sort(rest.begin(), rest.end(), [](const BeamCandidate& a, const BeamCandidate& b) {
    return std::tuple(a.parent, -a.sum, a.id) < std::tuple(b.parent, -b.sum, b.id);
  });
  std::vector<BeamCandidate> result;
  for (auto candidate = rest.begin(); candidate != rest.end();) {
    const auto has_same_parent = [parent = candidate->parent](const BeamCandidate& c) { return c.parent == parent; };
    if (std::none_of(first.begin(), first.end(), has_same_parent)) result.push_back(*candidate);
    candidate = std::find_if_not(candidate, rest.end(), has_same_parent);
  }
  return result;
}

FinishedHypotheses::FinishedHypotheses(Index width) : width_(static_cast<std::size_t>(width)) {
  entries_.reserve(width_ + 1);
}

std::optional<std::int32_t> FinishedHypotheses::add(Entry entry) {
  const auto is_better = [](const Entry& a, const Entry& b) { return a.score > b.score; };
  entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry, is_better), entry);
  if (entries_.size() <= width_) return {};
  const std::int32_t outscored = entries_.back().node;
  entries_.pop_back();
  return outscored;
}

bool FinishedHypotheses::beat(double best_live_score) const {
  return entries_.size() >= width_ && best_live_score <= entries_.front().score;
}

}  // namespace wasmformer
