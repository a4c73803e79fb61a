#include "ops/layer_norm.h"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "ops/layer_norm_reference.h"
#include "schema/error.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

Eigen::MatrixXd plain(const Matrix& x, const Parameter& weight, const Parameter& bias, double epsilon) {
  return layer_norm_reference(x.cast<double>(), weight.value.row(0).cast<double>(), bias.value.row(0).cast<double>(),
                              epsilon);
}

}  // namespace

TEST_CASE("layer_norm matches the formula") {
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{1, 1}, Sizes{1, 3}, Sizes{5, 17}, Sizes{300, 129});
  const double epsilon = GENERATE(1e-5, 0.5);
  // A mean far from 0 costs digits: a float near 30 is a multiple of 2e-6.
  const auto [offset, limit] = GENERATE(std::pair(0.0, 3e-6), std::pair(30.0, 3e-5));
  CAPTURE(n, d, epsilon, offset);
  const Matrix x = random_matrix(n, d, 1).array() + static_cast<Scalar>(offset);
  Parameter weight = random_parameter(1, d, 2), bias = random_parameter(1, d, 3);
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/false);
  Var y = layer_norm(tape, tape.constant(x), weight, bias, epsilon);
  REQUIRE(shape(y) == shape(x));
  const Eigen::MatrixXd reference = plain(x, weight, bias, epsilon);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double expected = reference(i, j);
      INFO("y(" << i << ", " << j << ") is " << y.value()(i, j) << " instead of " << expected);
      if (!(std::abs(static_cast<double>(y.value()(i, j)) - expected) < limit)) FAIL();
    }
  }
}

TEST_CASE("residual_norm is a sum and its layer_norm, the same for every number of threads") {
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{1, 1}, Sizes{5, 17}, Sizes{7, 64}, Sizes{700, 129});
  CAPTURE(n, d);
  const Matrix x = random_matrix(n, d, 1), y = random_matrix(n, d, 4), z = x + y;
  Parameter weight = random_parameter(1, d, 2), bias = random_parameter(1, d, 3);
  const Eigen::MatrixXd reference = plain(z, weight, bias, 1e-5);
  Matrix weight_gradient;
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    Tape tape(pool, /*recording=*/true);
    weight.gradient.setZero(1, d), bias.gradient.setZero(1, d);
    Var over = tape.variable(n, d, /*wants_gradient=*/true);
    over.mutable_value() = y;
    const ResidualNorm result = residual_norm(tape, tape.constant(x), over, 0, weight, bias, 1e-5);
    CHECK(result.sum.value() == z);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < d; ++j) {
        const double expected = reference(i, j);
        INFO("y(" << i << ", " << j << ") is " << result.norm.value()(i, j) << " instead of " << expected);
        if (!(std::abs(static_cast<double>(result.norm.value()(i, j)) - expected) < 5e-6)) FAIL();
      }
    }
    Var loss = tape.variable(1, 1, /*wants_gradient=*/true);
    const Matrix upstream = random_matrix(n, d, 5);
    tape.record(loss, [&](ConstView) { tape.add_gradient(result.norm, upstream); });
    tape.backward(loss);
    if (threads == 1) weight_gradient = weight.gradient;
    CHECK(weight.gradient == weight_gradient);
  }
}

TEST_CASE("residual_norm refuses different shapes and names both") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x = random_matrix(2, 3, 1), y = random_matrix(3, 2, 2);
  Parameter three = random_parameter(1, 3, 2), four = random_parameter(1, 4, 3);
  CHECK_THROWS_WITH(residual_norm(tape, tape.constant(x), tape.constant(y), 0, three, three, 1e-5),
                    ContainsSubstring("[2, 3]") && ContainsSubstring("[3, 2]"));
  CHECK_THROWS_WITH(residual_norm(tape, tape.constant(x), tape.constant(x), 0, three, four, 1e-5),
                    ContainsSubstring("[2, 3]") && ContainsSubstring("[1, 4]"));
}

TEST_CASE("layer_norm refuses weights of the wrong width and names both") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x = random_matrix(3, 5, 1);
  Parameter four = random_parameter(1, 4, 2), five = random_parameter(1, 5, 3);
  CHECK_THROWS_WITH(layer_norm(tape, tape.constant(x), four, five, 1e-5),
                    ContainsSubstring("[3, 5]") && ContainsSubstring("[1, 4]"));
  CHECK_THROWS_WITH(layer_norm(tape, tape.constant(x), five, four, 1e-5),
                    ContainsSubstring("[3, 5]") && ContainsSubstring("[1, 4]"));
}
