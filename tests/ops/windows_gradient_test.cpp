#include "ops/windows.h"
#include "tests/ops/central_differences.h"
#include "tests/ops/sum.h"

using namespace wasmformer;

TEST_CASE("The gradients of windows match central differences") {
  const Spans spans{{0, 4}, {4, 1}, {5, 2}};
  check_gradients({random_matrix(7, 3, 1)}, {},
                  [&](Tape& tape, const std::vector<Var>& x) { return windows(tape, x[0], spans, 5); });
}
