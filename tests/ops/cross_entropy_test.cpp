#include "ops/cross_entropy.h"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "ops/cross_entropy_reference.h"
#include "schema/error.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("cross_entropy matches the formula") {
  struct Sizes {
    Index n, vocabulary;
  };
  const auto [n, vocabulary] = GENERATE(Sizes{1, 1}, Sizes{1, 2}, Sizes{3, 5}, Sizes{300, 129});
  const double smoothing = GENERATE(0.0, 0.1);
  CAPTURE(n, vocabulary, smoothing);
  const Matrix logits = random_matrix(n, vocabulary, 1) * 5;
  Random random(2);
  std::vector<TokenId> targets;
  for (Index i = 0; i < n; ++i) targets.push_back(static_cast<TokenId>(random.below(vocabulary)));
  const CrossEntropyReference expected = cross_entropy_reference(logits.cast<double>(), targets, smoothing);
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/false);
  const CrossEntropy result = cross_entropy(tape, tape.constant(logits), targets, smoothing);
  // A mean of numbers below 12, each with float's relative 1.2e-7.
  CHECK(std::abs(result.loss.value()(0, 0) - expected.loss) < 3e-6);
  CHECK(std::abs(result.nll - expected.nll) < 3e-6);
}

TEST_CASE("Large scores do not overflow in cross_entropy") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Matrix logits(2, 2);
  logits << 5000, -5000, 5000, 4999;
  const CrossEntropy result = cross_entropy(tape, tape.constant(logits), std::vector<TokenId>{0, 1}, 0);
  // -log p is 0 for the first row and 1 + log(1 + e^-1) for the second.
  CHECK(result.nll == Catch::Approx((1 + std::log1p(std::exp(-1.0))) / 2).margin(5e-4));
}

TEST_CASE("cross_entropy refuses targets that do not fit and names both sides") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix logits = random_matrix(3, 5, 1), nothing(0, 5);
  const auto with = [&](const Matrix& scores, const std::vector<TokenId>& targets) {
    cross_entropy(tape, tape.constant(scores), targets, 0.1);
  };
  CHECK_THROWS_WITH(with(logits, {1, 2}), ContainsSubstring("[3, 5]") && ContainsSubstring("2 targets"));
  CHECK_THROWS_WITH(with(logits, {1, 2, 5}), ContainsSubstring("target 5") && ContainsSubstring("below 5"));
  CHECK_THROWS_WITH(with(logits, {1, -1, 2}), ContainsSubstring("target -1"));
  CHECK_THROWS_WITH(with(nothing, {}), ContainsSubstring("[0, 5]"));
}
