#include "ops/ssru.h"
#include "tests/ops/central_differences.h"
#include "tests/ops/sum.h"

using namespace wasmformer;

TEST_CASE("The gradients of the recurrent unit match central differences") {
  const Spans spans{{0, 4}, {4, 1}, {5, 2}};
  check_gradients({random_matrix(7, 3, 1), random_matrix(7, 3, 2)}, {}, [&](Tape& tape, const std::vector<Var>& x) {
    return sum(tape, ssru(tape, x[0], x[1], spans), ssru(tape, x[1], x[0], spans));
  });
}
