#include "ops/head_product.h"

#include <catch_amalgamated.hpp>

#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Each head is multiplied by its own matrix") {
  const Matrix x = random_matrix(9, 6, 1);
  Parameter w{random_matrix(6, 2, 2)};
  Matrix expected(9, 6);
  for (Index h = 0; h < 6; h += 2) expected.middleCols(h, 2) = x.middleCols(h, 2).lazyProduct(w.value.middleRows(h, 2));
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/false);
  CHECK((head_product(tape, tape.constant(x), w, 3).value() - expected).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("Matrices that do not fit the heads are refused") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x = random_matrix(2, 6, 1);
  Parameter w{random_matrix(6, 2, 2)};
  CHECK_THROWS_WITH(head_product(tape, tape.constant(x), w, 2),
                    ContainsSubstring("2 heads of [2, 6]") && ContainsSubstring("[6, 2]"));
}
