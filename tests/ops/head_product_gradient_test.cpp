#include "ops/head_product.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

TEST_CASE("The gradients of a product of heads match central differences") {
  const Index heads = GENERATE(1, 3);
  Parameter w = random_parameter(12, 12 / heads, 2);
  check_gradients({random_matrix(5, 12, 1)}, {&w},
                  [&](Tape& tape, const std::vector<Var>& x) { return head_product(tape, x[0], w, heads); });
}
