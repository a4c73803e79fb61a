// The highest scores of a row, and log Σ exp of it: what makes log-probabilities of logits.
#pragma once

#include <span>

#include "tensor/matrix.h"

namespace wasmformer {

struct TokenScore {
  TokenId id = 0;   // the column
  float score = 0;  // a logit, or the logarithm of a probability
};

// Fills `best`, of 1 to `row.size()` entries, with the highest scores of the row, best first; the smaller column where
// two are equal.
void top_k(const Eigen::Ref<const RowVector>& row, std::span<TokenScore> best);

// log Σ exp(row), given the largest score of the row; at most 3e-6 away.
Scalar log_sum_exp(const Eigen::Ref<const RowVector>& row, Scalar max);

}  // namespace wasmformer
