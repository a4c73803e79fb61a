#include "ops/cross_entropy.h"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

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

// A row of scores before the softmax, [n], and log Σ exp of them.
struct Scores {
  const Scalar* x;
  Scalar log_sum;
};

// D = KL(p, q) + KL(q, p) = Σ (p - q)(log p - log q), p = softmax(a), q = softmax(b). Gradients that are not
// null get weight · ∂D/∂a and weight · ∂D/∂b added.
double divergence(Scores a, Scores b, Index n, Scalar weight, Scalar* gradient_a, Scalar* gradient_b) {
  const auto each = [&](auto&& use) {
    each_vector<Scalar>(n, [&](Index c, auto count) {
      const Vector log_p = load(a.x + c, count) - a.log_sum, log_q = load(b.x + c, count) - b.log_sum;
      use(c, count, simd::exp(log_p), simd::exp(log_q), log_p - log_q);
    });
  };
  Vector sum_p{}, sum_q{};
  each([&](Index, auto count, Vector p, Vector q, Vector ratio) {
    sum_p += within(p * ratio, count, 0);
    sum_q -= within(q * ratio, count, 0);
  });
  const Scalar kl_p = simd::reduce<Scalar>(sum_p, std::plus<>{});
  const Scalar kl_q = simd::reduce<Scalar>(sum_q, std::plus<>{});
  if (gradient_a != nullptr) {
    each([&](Index c, auto count, Vector p, Vector q, Vector ratio) {
      store(gradient_a + c, load(gradient_a + c, count) + weight * (p * (ratio - kl_p) + p - q), count);
      store(gradient_b + c, load(gradient_b + c, count) - weight * (q * (ratio + kl_q) + p - q), count);
    });
  }
  return static_cast<double>(kl_p) + static_cast<double>(kl_q);
}

}  // namespace

CrossEntropy cross_entropy(Tape& tape, Var logits, std::span<const TokenId> targets, double smoothing,
                           double r_drop) {
  const Index n = logits.rows(), vocabulary = logits.cols();
  WASMFORMER_CHECK(n == static_cast<Index>(targets.size()) && n > 0,
                   "[cross_entropy] logits " << shape(logits) << " and " << targets.size() << " targets");
  for (TokenId target : targets)
    WASMFORMER_CHECK(target >= 0 && target < vocabulary,
                     "[cross_entropy] target " << target << " is not below " << vocabulary);

  const Index half = n / 2;
  WASMFORMER_CHECK(r_drop == 0 || n == 2 * half, "[cross_entropy] R-Drop pairs rows, and there are " << n);

  const bool recorded = tape.recording() && logits.wants_gradient();
  double* row_loss = tape.scratch<double>(n);
  double* row_nll = tape.scratch<double>(n);
  const double share = 1 / static_cast<double>(n);
  // Returns log Σ exp(x).
  const auto add_row = [&](Index i) {
    Scalar* row = logits.mutable_value().data() + i * vocabulary;
    const Scalar of_target = row[targets[i]];
    const auto [max, mean] = maximum_and_mean(row, vocabulary);
    const Scalar sum =
        recorded ? exponentials<true>(row, vocabulary, max) : exponentials<false>(row, vocabulary, max);
    const double log_sum = static_cast<double>(max) + std::log(static_cast<double>(sum));
    row_nll[i] = log_sum - static_cast<double>(of_target);
    row_loss[i] = (1 - smoothing) * row_nll[i] + smoothing * (log_sum - mean);
    if (recorded) {
      // loss = 1/n Σ log Σ exp(x) - (1 - smoothing) x[y] - smoothing mean(x)
      scale_and_shift(row, vocabulary, static_cast<Scalar>(share / static_cast<double>(sum)),
                      static_cast<Scalar>(-share * smoothing / static_cast<double>(vocabulary)));
      row[targets[i]] -= static_cast<Scalar>(share * (1 - smoothing));
    }
    return static_cast<Scalar>(log_sum);
  };
  const auto add_pair = [&](Index i, std::vector<Scalar>& scores) {
    Scalar* a = logits.mutable_value().data() + i * vocabulary;
    Scalar* b = a + half * vocabulary;
    scores.assign(a, a + vocabulary);
    scores.insert(scores.end(), b, b + vocabulary);
    const Scores of_a{scores.data(), add_row(i)}, of_b{scores.data() + vocabulary, add_row(i + half)};
    row_loss[i] += r_drop / 2 *
                   divergence(of_a, of_b, vocabulary, static_cast<Scalar>(share * r_drop / 2),
                              recorded ? a : nullptr, recorded ? b : nullptr);
  };
  if (r_drop == 0) {
    tape.for_rows(n, vocabulary, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) add_row(i);
    });
  } else {
    tape.for_rows(half, 2 * vocabulary, [&](Index begin, Index end) {
      std::vector<Scalar> scores;
      for (Index i = begin; i < end; ++i) add_pair(i, scores);
    });
  }
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
