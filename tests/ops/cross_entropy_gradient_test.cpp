#include "ops/cross_entropy.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

TEST_CASE("The gradients of cross_entropy match central differences") {
  struct Sizes {
    Index n, vocabulary;
  };
  const auto [n, vocabulary] = GENERATE(Sizes{1, 1}, Sizes{1, 2}, Sizes{3, 5}, Sizes{130, 129});
  const double smoothing = GENERATE(0.0, 0.1);
  CAPTURE(n, vocabulary, smoothing);
  Random random(5);
  std::vector<TokenId> targets;
  for (Index i = 0; i < n; ++i) targets.push_back(static_cast<TokenId>(random.below(vocabulary)));
  check_gradients({random_matrix(n, vocabulary, 3) * 4}, {}, [&](Tape& tape, const std::vector<Var>& x) {
    return cross_entropy(tape, x[0], targets, smoothing).loss;
  });
}

TEST_CASE("The gradients of weighted and binary cross_entropy and of their sum match central differences") {
  const std::vector<TokenId> classes{2, 0, 2, 1}, sets{0, 1, 2, 1};
  const Spans spans{{0, 2}, {2, 0}, {2, 1}, {3, 1}};
  const std::vector<double> weights{0.5, 3, 1};
  const double smoothing = GENERATE(0.0, 0.1);
  check_gradients({random_matrix(4, 3, 3) * 4, random_matrix(4, 3, 4) * 4}, {},
                  [&](Tape& tape, const std::vector<Var>& x) {
                    return weighted_sum(tape, cross_entropy(tape, x[0], classes, smoothing, weights).loss,
                                        binary_cross_entropy(tape, x[1], sets, spans, smoothing).loss, 0.3);
                  });
}
