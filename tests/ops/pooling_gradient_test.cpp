#include "ops/pooling.h"
#include "tests/ops/central_differences.h"
#include "tests/ops/sum.h"

using namespace wasmformer;

TEST_CASE("The gradients of rows_at and mean_rows match central differences") {
  const std::vector<Index> at{2, 0, 2};
  const Spans spans{{0, 2}, {2, 1}, {1, 4}};
  check_gradients({random_matrix(5, 3, 1)}, {}, [&](Tape& tape, const std::vector<Var>& x) {
    return sum(tape, rows_at(tape, x[0], at), mean_rows(tape, x[0], spans));
  });
}
