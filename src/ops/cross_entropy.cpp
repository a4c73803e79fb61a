#include "ops/cross_entropy.h"

#include <cmath>

namespace wasmformer {

CrossEntropy cross_entropy(Tape& tape, Var logits, std::span<const TokenId> targets, double smoothing) {
  const Index n = logits.rows(), vocabulary = logits.cols();
  WASMFORMER_CHECK(n == static_cast<Index>(targets.size()) && n > 0,
                   "[cross_entropy] logits " << shape(logits) << " and " << targets.size() << " targets");
  for (TokenId target : targets)
    WASMFORMER_CHECK(target >= 0 && target < vocabulary,
                     "[cross_entropy] target " << target << " is not below " << vocabulary);

  Scalar* log_sum = tape.scratch<Scalar>(n);  // log Σ exp(logit)
  double* row_loss = tape.scratch<double>(n);
  double* row_nll = tape.scratch<double>(n);
  tape.for_rows(n, vocabulary, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto row = logits.value().row(i).array();
      const Scalar max = row.maxCoeff();
      log_sum[i] = max + std::log((row - max).exp().sum());
      row_nll[i] = log_sum[i] - row(targets[i]);
      row_loss[i] = (1 - smoothing) * row_nll[i] + smoothing * (log_sum[i] - row.mean());
    }
  });
  double loss = 0, nll = 0;
  for (Index i = 0; i < n; ++i) loss += row_loss[i], nll += row_nll[i];
  const double rows = static_cast<double>(n);
  Var result = tape.variable(1, 1, logits.wants_gradient());
  result.mutable_value()(0, 0) = static_cast<Scalar>(loss / rows);

  if (result.wants_gradient()) {
    tape.record(result,
                [&tape, logits, targets = tape.keep(targets), smoothing, log_sum](ConstView upstream) {
                  // loss = 1/n Σ log Σ exp(x) - (1 - smoothing) x[y] - smoothing mean(x)
                  const Scalar scale = upstream(0, 0) / static_cast<Scalar>(logits.rows());
                  const Scalar uniform = static_cast<Scalar>(smoothing / static_cast<double>(logits.cols()));
                  View x = tape.gradient_over_value(logits).view;
                  tape.for_rows(x.rows(), x.cols(), [&](Index begin, Index end) {
                    for (Index i = begin; i < end; ++i) {
                      x.row(i).array() = ((x.row(i).array() - log_sum[i]).exp() - uniform) * scale;
                      x(i, targets[i]) -= static_cast<Scalar>(1 - smoothing) * scale;
                    }
                  });
                });
  }
  return {result, nll / rows};
}

}  // namespace wasmformer
