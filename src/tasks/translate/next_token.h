// The most probable next tokens, from a row of the decoder's scores.
#pragma once

#include <span>
#include <vector>

#include "model/config.h"
#include "ops/top_k.h"

namespace wasmformer {

// The columns of a row of scores that count differently from the others.
struct TokenColumns {
  TokenId pad = 0, bos = 0;  // never chosen
  Index count = 0;           // number of columns
  bool sum_has_pad = false;  // true if pad has a share of the probability; otherwise pad and begin are excluded
};

// Columns of a row with a score for each token of the vocabulary.
TokenColumns token_columns(const Config& config);

// Fills `best`, of at least one entry, with the tokens of the highest scores and their log-probabilities, best first.
// Returns log Σ exp(row), which is what a score exceeds its log-probability by. The scores of pad and begin become -∞.
// Throws Error when the scores are not numbers.
Scalar most_probable(Eigen::Ref<RowVector> row, std::span<TokenScore> best, const TokenColumns& columns);

// The same for a row that most_probable() has read, and in which further scores have become -∞ since: fills `best` with
// the others' log-probabilities, which stay as they were. `log_sum`: what that returned.
void most_probable_of_rest(Eigen::Ref<RowVector> row, std::span<TokenScore> best, Scalar log_sum);

// The same as a list of k tokens, or of all if there are fewer.
std::vector<TokenScore> most_probable(Eigen::Ref<RowVector> row, Index k, const TokenColumns& columns);

}  // namespace wasmformer
