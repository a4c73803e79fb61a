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
  each_vector<Scalar>(n, [&](Index c, auto count) { store(x + c, load(x + c, count) * scale + shift, count); });
}

void check_targets(std::span<const TokenId> targets, Index vocabulary) {
  for (TokenId target : targets)
    WASMFORMER_CHECK(target >= 0 && target < vocabulary, ErrorCode::cross_entropy,
                     "target " << target << " is not below " << vocabulary);
}

// The mean of the losses. Recording, the logits hold their gradient already.
CrossEntropy mean_loss(Tape& tape, Var logits, double loss, double nll, double count) {
  Var result = tape.variable(1, 1, logits.wants_gradient());
  result.mutable_value()(0, 0) = static_cast<Scalar>(loss / count);
  if (result.wants_gradient()) {
    tape.record(result, [&tape, logits](ConstView upstream) {
      View gradient = tape.gradient_reusing_value(logits).view;
      if (upstream(0, 0) != 1) gradient *= upstream(0, 0);
    });
  }
  return {result, nll / count};
}

}  // namespace

CrossEntropy cross_entropy(Tape& tape, Var logits, std::span<const TokenId> targets, double smoothing,
                           std::span<const double> weights, double total) {
  const Index n = logits.rows(), vocabulary = logits.cols();
  WASMFORMER_CHECK(n == static_cast<Index>(targets.size()) && n > 0, ErrorCode::cross_entropy,
                   "logits " << shape(logits) << " and " << targets.size() << " targets");
  WASMFORMER_CHECK(weights.empty() || weights.size() == static_cast<std::size_t>(vocabulary), ErrorCode::cross_entropy,
                   "logits " << shape(logits) << " and " << weights.size() << " weights");
  check_targets(targets, vocabulary);
  const auto weight = [&](TokenId target) { return weights.empty() ? 1 : weights[target]; };
  double count = total;
  if (total == 0)
    for (TokenId target : targets) count += weight(target);

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
      // loss = share Σ log Σ exp(x) - (1 - smoothing) x[y] - smoothing mean(x)
      const double share = weight(targets[i]) / count;
      scale_and_shift(row, vocabulary, static_cast<Scalar>(share / static_cast<double>(sum)),
                      static_cast<Scalar>(-share * smoothing / static_cast<double>(vocabulary)));
      row[targets[i]] -= static_cast<Scalar>(share * (1 - smoothing));
    }
  });
  double loss = 0, nll = 0;
  for (Index i = 0; i < n; ++i) {
    loss += weight(targets[i]) * row_loss[i];
    nll += weight(targets[i]) * row_nll[i];
  }
  CrossEntropy result = mean_loss(tape, logits, loss, nll, count);
  result.row_nll = {row_nll, static_cast<std::size_t>(n)};
  return result;
}

CrossEntropy binary_cross_entropy(Tape& tape, Var logits, std::span<const TokenId> targets, std::span<const Span> spans,
                                  double smoothing, double total) {
  const Index n = logits.rows();
  const double count = total == 0 ? static_cast<double>(n) : total;
  WASMFORMER_CHECK(n == static_cast<Index>(spans.size()) && n > 0, ErrorCode::cross_entropy,
                   "logits " << shape(logits) << " and targets of " << spans.size() << " rows");
  check_targets(targets, logits.cols());
  Matrix expected = Matrix::Zero(n, logits.cols());
  for (Index i = 0; i < n; ++i)
    for (TokenId target : targets.subspan(spans[i].begin, spans[i].size)) expected(i, target) = 1;
  const bool recorded = tape.recording() && logits.wants_gradient();
  double loss = 0, nll = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index c = 0; c < logits.cols(); ++c) {
      Scalar& x = logits.mutable_value()(i, c);
      const double t = expected(i, c), smooth = (1 - smoothing) * t + smoothing / 2;
      // -t log p - (1 - t) log(1 - p) = log(1 + exp(-|x|)) + max(x, 0) - t x
      const double common = std::log1p(std::exp(-std::abs(static_cast<double>(x)))) + std::max<double>(x, 0);
      loss += common - smooth * static_cast<double>(x);
      nll += common - t * static_cast<double>(x);
      if (recorded) x = static_cast<Scalar>((1 / (1 + std::exp(-static_cast<double>(x))) - smooth) / count);
    }
  }
  return mean_loss(tape, logits, loss, nll, count);
}

Var weighted_sum(Tape& tape, Var a, Var b, double weight) {
  Var sum = tape.variable(1, 1, a.wants_gradient() || b.wants_gradient());
  sum.mutable_value()(0, 0) = a.value()(0, 0) + static_cast<Scalar>(weight) * b.value()(0, 0);
  if (sum.wants_gradient()) {
    tape.record(sum, [&tape, a, b, weight](ConstView upstream) {
      if (a.wants_gradient()) tape.add_gradient(a, upstream);
      if (b.wants_gradient()) tape.add_gradient(b, static_cast<Scalar>(weight) * upstream);
    });
  }
  return sum;
}

}  // namespace wasmformer
