#include "ops/crf.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

TEST_CASE("The gradients of a conditional random field match central differences") {
  const Spans spans{{0, 4}, {4, 1}, {5, 0}, {5, 3}};
  const std::vector<TokenId> targets{0, 2, 2, 1, 1, 0, 0, 2};
  Parameter transitions(random_matrix(3, 3, 2), Matrix::Zero(3, 3));
  check_gradients({random_matrix(8, 3, 1)}, {&transitions}, [&](Tape& tape, const std::vector<Var>& x) {
    return crf_loss(tape, x[0], transitions, targets, spans, 5).loss;
  });
}
