#include "ops/add.h"

#include <catch_amalgamated.hpp>

#include "tensor/check.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("add sums element by element") {
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{1, 1}, Sizes{3, 5}, Sizes{130, 129});
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/false);
  const Matrix x = random_matrix(n, d, 1), y = random_matrix(n, d, 2);
  CHECK(add(tape, tape.constant(x), tape.constant(y), 0).value() == Matrix(x + y));
}

TEST_CASE("add refuses different shapes and names both") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x = random_matrix(2, 3, 1), y = random_matrix(3, 2, 2);
  CHECK_THROWS_WITH(add(tape, tape.constant(x), tape.constant(y), 0),
                    ContainsSubstring("[2, 3]") && ContainsSubstring("[3, 2]"));
}
