#include "ops/residual_sum.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("residual_sum adds what dropout leaves, and nothing without a first summand") {
  const Matrix x = random_matrix(40, 33, 1), y = random_matrix(40, 33, 2);
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/true);
  const Var a = tape.constant(x), b = tape.constant(y);
  CHECK(residual_sum(tape, a, b, 0).value() == x + y);
  CHECK(residual_sum(tape, std::nullopt, b, 0).value() == y);

  constexpr double dropout = 0.25;
  tape.seed(5);
  const Matrix alone = residual_sum(tape, std::nullopt, b, dropout).value();
  tape.seed(5);
  CHECK(residual_sum(tape, a, b, dropout).value() == x + alone);
  Index zeros = 0;
  for (Index i = 0; i < y.rows(); ++i)
    for (Index j = 0; j < y.cols(); ++j) {
      zeros += alone(i, j) == 0;
      if (alone(i, j) != 0) CHECK(alone(i, j) == Catch::Approx(y(i, j) / 0.75));
    }
  // A quarter of 1,320, give or take four deviations.
  CHECK(zeros > 330 - 63);
  CHECK(zeros < 330 + 63);
}

TEST_CASE("residual_sum refuses summands of different shapes") {
  const Matrix x = random_matrix(3, 4, 1), y = random_matrix(3, 5, 2);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  CHECK_THROWS_WITH(residual_sum(tape, tape.constant(x), tape.constant(y), 0), ContainsSubstring("differ"));
}
