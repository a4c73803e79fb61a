#include "ops/embedding.h"
#include "ops/rotary.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

TEST_CASE("The gradient of rotary positions matches central differences") {
  const std::vector<Index> at{0, 1, 5, 2};
  const Matrix angles = sinusoidal_halves(6, 4, 2);
  check_gradients({random_matrix(4, 8, 1)}, {}, [&](Tape& tape, const std::vector<Var>& x) {
    return rotary(tape, x[0], {at, &angles}, 2);
  });
}
