#include "ops/rotary.h"

#include <catch_amalgamated.hpp>

#include "ops/embedding.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

Matrix turned(const Matrix& x, const std::vector<Index>& at, Index heads) {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Index d_k = x.cols() / heads;
  const Matrix angles = sinusoidal_halves(64, d_k, d_k / 2);
  return rotary(tape, tape.constant(x), {at, &angles}, heads).value();
}

}  // namespace

TEST_CASE("Rotary positions rotate the pairs of each head by place / 10000^(2i/d_k)") {
  Matrix x(1, 8);
  x << 1, 2, 3, 4, 5, 6, 7, 8;
  const Matrix y = turned(x, {7}, 2);  // angles 7 and 7 / 100; pairs (1, 3), (2, 4), (5, 7), (6, 8)
  CHECK(y(0, 0) == Catch::Approx(1 * std::cos(7) - 3 * std::sin(7)).epsilon(1e-5));
  CHECK(y(0, 2) == Catch::Approx(3 * std::cos(7) + 1 * std::sin(7)).epsilon(1e-5));
  CHECK(y(0, 1) == Catch::Approx(2 * std::cos(0.07) - 4 * std::sin(0.07)).epsilon(1e-5));
  CHECK(y(0, 3) == Catch::Approx(4 * std::cos(0.07) + 2 * std::sin(0.07)).epsilon(1e-5));
  CHECK(y(0, 4) == Catch::Approx(5 * std::cos(7) - 7 * std::sin(7)).epsilon(1e-5));
  CHECK(y(0, 7) == Catch::Approx(8 * std::cos(0.07) + 6 * std::sin(0.07)).epsilon(1e-5));
  CHECK(turned(x, {0}, 2) == x);
}

TEST_CASE("The product of a rotated query and key depends on the offset between their places, not on the places") {
  const Matrix q = random_matrix(1, 8, 1), k = random_matrix(1, 8, 2);
  const auto product = [&](Index at, Index other) {
    return (turned(q, {at}, 1).row(0)).dot(turned(k, {other}, 1).row(0));
  };
  CHECK(product(3, 8) == Catch::Approx(product(40, 45)).epsilon(1e-4));
  CHECK(product(8, 3) == Catch::Approx(product(45, 40)).epsilon(1e-4));
  CHECK(std::abs(product(3, 8) - product(8, 3)) > 1e-3);
}

TEST_CASE("Rotary positions refuse places and heads that do not fit") {
  const Matrix x = random_matrix(2, 8, 1);
  CHECK_THROWS_WITH(turned(x, {0}, 2), ContainsSubstring("2 rows but 1 places"));
  CHECK_THROWS_WITH(turned(x, {0, 64}, 2), ContainsSubstring("place 64 is outside 0 to 63"));
  CHECK_THROWS_WITH(turned(random_matrix(2, 9, 1), {0, 1}, 2), ContainsSubstring("do not fit 2 heads in 9 features"));
  CHECK_THROWS_WITH(turned(random_matrix(2, 6, 1), {0, 1}, 2), ContainsSubstring("a head needs an even number"));
}
