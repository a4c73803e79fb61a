// Label-smoothed cross-entropy in plain loops: what ops/cross_entropy.h computes fast, and is tested against.
#pragma once

#include <cmath>
#include <span>

#include "tensor/matrix.h"

namespace wasmformer {

struct CrossEntropyReference {
  double loss = 0;  // mean over the rows of -Σ_c q(c) log p(c), q the smoothed distribution
  double nll = 0;   // mean of -log p(target)
};

// p = softmax(logits); q(c) = (1 - smoothing) [c is the target] + smoothing / V. logits: [n, V], small, as nothing is
// subtracted before the exponential; targets: n.
inline CrossEntropyReference cross_entropy_reference(const Eigen::MatrixXd& logits, std::span<const TokenId> targets,
                                                     double smoothing) {
  CrossEntropyReference result;
  const double n = static_cast<double>(logits.rows()), vocabulary = static_cast<double>(logits.cols());
  for (Index i = 0; i < logits.rows(); ++i) {
    double sum = 0;
    for (Index c = 0; c < logits.cols(); ++c) sum += std::exp(logits(i, c));
    for (Index c = 0; c < logits.cols(); ++c) {
      const double log_p = logits(i, c) - std::log(sum);
      const double is_target = c == targets[static_cast<std::size_t>(i)] ? 1 : 0;
      const double q = (1 - smoothing) * is_target + smoothing / vocabulary;
      result.loss -= q * log_p / n;
      result.nll -= is_target * log_p / n;
    }
  }
  return result;
}

}  // namespace wasmformer
