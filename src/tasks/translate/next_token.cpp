#include "tasks/translate/next_token.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "schema/error.h"

namespace wasmformer {
namespace {

void subtract(Scalar log_sum, std::span<TokenScore> best) {
  for (TokenScore& token : best) token.score = static_cast<float>(static_cast<Scalar>(token.score) - log_sum);
}

}  // namespace

TokenColumns token_columns(const Config& config) {
  return {.pad = config.pad_id,
          .bos = config.bos_id,
          .count = config.target_vocab_size,
          // Models of Marian itself, whose begin token follows the vocabulary, never choose <unk>, our pad.
          .sum_has_pad = config.begins_after_vocabulary()};
}

Scalar most_probable(Eigen::Ref<RowVector> row, std::span<TokenScore> best, const TokenColumns& columns) {
  const Scalar pad = row(columns.pad);
  row(columns.pad) = -std::numeric_limits<Scalar>::infinity();
  row(columns.bos) = -std::numeric_limits<Scalar>::infinity();
  top_k(row, best);
  Scalar log_sum = log_sum_exp(row, static_cast<Scalar>(best[0].score));
  if (columns.sum_has_pad) log_sum = std::max(log_sum, pad) + std::log1p(std::exp(-std::abs(log_sum - pad)));
  WASMFORMER_CHECK(std::isfinite(log_sum), ErrorCode::search, "the model gives scores that are NaN or infinite");
  subtract(log_sum, best);
  return log_sum;
}

void most_probable_of_rest(Eigen::Ref<RowVector> row, std::span<TokenScore> best, Scalar log_sum) {
  top_k(row, best);
  subtract(log_sum, best);
}

std::vector<TokenScore> most_probable(Eigen::Ref<RowVector> row, Index k, const TokenColumns& columns) {
  std::vector<TokenScore> best(static_cast<std::size_t>(std::clamp<Index>(k, 0, row.size())));
  if (!best.empty()) most_probable(row, best, columns);
  return best;
}

}  // namespace wasmformer
