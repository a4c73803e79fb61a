#include "ops/linear_rows.h"

#include <catch_amalgamated.hpp>

#include "ops/linear.h"
#include "schema/error.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("linear_rows gives the columns of linear, each plus its offset") {
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/GENERATE(false, true));
  const Matrix x = random_matrix(5, 20, 1);
  Parameter weight = random_parameter(90, 20, 2), bias = random_parameter(1, 90, 3);
  const std::vector<TokenId> rows{80, 3, 4, 89, 0};
  const std::vector<Scalar> offsets{0, 1, -2, 0.5, 0};
  for (const Parameter* added : {static_cast<const Parameter*>(&bias), static_cast<const Parameter*>(nullptr)}) {
    const Matrix all = linear(tape, tape.constant(x), weight, added).value();
    const Matrix some = linear_rows(tape, tape.constant(x), weight, added, rows, offsets).value();
    REQUIRE(some.cols() == 5);
    for (Index r = 0; r < 5; ++r)
      for (Index i = 0; i < 5; ++i) CHECK(some(i, r) == Catch::Approx(all(i, rows[r]) + offsets[r]).margin(1e-5));
  }
}

TEST_CASE("linear_rows refuses what does not fit") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  Parameter weight = random_parameter(4, 3, 1), bias = random_parameter(1, 4, 2);
  const Matrix x = random_matrix(2, 3, 3), other = random_matrix(2, 5, 3);
  const std::vector<Scalar> none(2);
  const auto call = [&](const Matrix& input, std::vector<TokenId> rows) {
    return linear_rows(tape, tape.constant(input), weight, &bias, rows, none);
  };
  CHECK_THROWS_WITH(call(other, {0, 1}), ContainsSubstring("[2, 5]"));
  CHECK_THROWS_WITH(call(x, {0, 4}), ContainsSubstring("row 4 is not below 4"));
  CHECK_THROWS_WITH(call(x, {0, -1}), ContainsSubstring("row -1"));
  CHECK_THROWS_WITH(call(x, {0}), ContainsSubstring("1 rows and 2 offsets"));
  weight.value.resize(0, 0);
  CHECK_THROWS_WITH(call(x, {0, 1}), ContainsSubstring("int8"));
}
