#include "ops/cross_entropy.h"

#include <cmath>
#include <functional>
#include <limits>

#include "tensor/vector_math.h"

namespace wasmformer {
namespace {

using simd::each_vector;
using simd::exponentials;
using simd::load;
using simd::store;
using simd::within;
using Vector = simd::Vector<Scalar>;

struct MaximumAndMean {
  Scalar max;
  double mean;
};

MaximumAndMean maximum_and_mean(const Scalar* x, Index n) {
  constexpr Scalar nothing = -std::numeric_limits<Scalar>::infinity();
  const auto larger = [](Vector a, Vector b) { return a > b ? a : b; };
  Vector max = simd::splat(nothing), sum{};
  each_vector<Scalar>(n, [&](Index c, auto count) {
    const Vector v = load(x + c, count);
    max = larger(max, within(v, count, nothing));
    sum += v;
  });
  return {simd::reduce<Scalar>(max, larger),
          static_cast<double>(simd::reduce<Scalar>(sum, std::plus<>{})) / static_cast<double>(n)};
}

void scale_and_shift(Scalar* x, Index n, Scalar scale, Scalar shift) {
  each_vector<Scalar>(n,
                      [&](Index c, auto count) { store(x + c, load(x + c, count) * scale + shift, count); });
}

}  // namespace

CrossEntropy cross_entropy(Tape& tape, Var logits, std::span<const TokenId> targets, double smoothing) {
  const Index n = logits.rows(), vocabulary = logits.cols();
  WASMFORMER_CHECK(n == static_cast<Index>(targets.size()) && n > 0,
                   "[cross_entropy] logits " << shape(logits) << " and " << targets.size() << " targets");
  for (TokenId target : targets)
    WASMFORMER_CHECK(target >= 0 && target < vocabulary,
                     "[cross_entropy] target " << target << " is not below " << vocabulary);

  const bool recorded = tape.recording() && logits.wants_gradient();
  double* row_loss = tape.scratch<double>(n);
  double* row_nll = tape.scratch<double>(n);
  tape.for_rows(n, vocabulary, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Scalar* row = logits.mutable_value().data() + i * vocabulary;
      const Scalar of_target = row[targets[i]];
      const auto [max, mean] = maximum_and_mean(row, vocabulary);
      const Scalar sum =
          recorded ? exponentials<true>(row, vocabulary, max) : exponentials<false>(row, vocabulary, max);
      const double log_sum = static_cast<double>(max) + std::log(static_cast<double>(sum));
      row_nll[i] = log_sum - static_cast<double>(of_target);
      row_loss[i] = (1 - smoothing) * row_nll[i] + smoothing * (log_sum - mean);
      if (!recorded) continue;
      // loss = 1/n Σ log Σ exp(x) - (1 - smoothing) x[y] - smoothing mean(x)
      const double share = 1 / static_cast<double>(n);
      scale_and_shift(row, vocabulary, static_cast<Scalar>(share / static_cast<double>(sum)),
                      static_cast<Scalar>(-share * smoothing / static_cast<double>(vocabulary)));
      row[targets[i]] -= static_cast<Scalar>(share * (1 - smoothing));
    }
  });
  double loss = 0, nll = 0;
  for (Index i = 0; i < n; ++i) loss += row_loss[i], nll += row_nll[i];
  const double rows = static_cast<double>(n);
  Var result = tape.variable(1, 1, logits.wants_gradient());
  result.mutable_value()(0, 0) = static_cast<Scalar>(loss / rows);

  if (recorded) {
    tape.record(result, [&tape, logits](ConstView upstream) {
      View gradient = tape.gradient_over_value(logits).view;
      if (upstream(0, 0) != 1) gradient *= upstream(0, 0);
    });
  }
  return {result, nll / rows};
}

}  // namespace wasmformer
