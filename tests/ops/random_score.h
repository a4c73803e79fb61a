// What the scores of attention learn, at random.
#pragma once

#include "ops/attention.h"
#include "tests/ops/random_matrix.h"

namespace wasmformer {

// Of d features in all; without rows where the scores learn nothing.
inline Parameter random_score(Scoring scoring, Index d, Index heads, std::uint64_t seed) {
  if (scoring != Scoring::additive && scoring != Scoring::bilinear) return {};
  const Index rows = scoring == Scoring::additive ? 1 : d,
              cols = scoring == Scoring::additive ? d : d / heads;
  return {random_matrix(rows, cols, seed), Matrix::Zero(rows, cols)};
}

}  // namespace wasmformer
