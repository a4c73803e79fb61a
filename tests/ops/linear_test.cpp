#include "ops/linear.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("linear multiplies by the transposed weight and adds the bias to every row") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Matrix x(2, 3);
  x << 1, 2, 3, 0, -1, 1;
  Parameter weight{Matrix(2, 3), {}}, bias{Matrix(1, 2), {}};
  weight.value << 1, 0, 2, -1, 1, 0;
  bias.value << 10, 20;
  Matrix expected(2, 2);
  expected << 7, 1, 2, -1;
  CHECK(linear(tape, tape.constant(x), weight, nullptr).value() == expected);
  expected << 17, 21, 12, 19;
  CHECK(linear(tape, tape.constant(x), weight, &bias).value() == expected);
}

TEST_CASE("linear gives the same result with packed weights, and nearly the same with int8 weights") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x = random_matrix(5, 70, 1);
  Parameter weight = random_parameter(33, 70, 2), bias = random_parameter(1, 33, 3);
  const Matrix expected = linear(tape, tape.constant(x), weight, &bias).value();

  weight.packed = PackedMatrix(weight.view());
  CHECK(linear(tape, tape.constant(x), weight, &bias).value().isApprox(expected, 1e-6f));

  weight.packed = PackedMatrix(quantize(weight.view()));
  weight.value.resize(0, 0);
  const Matrix small = linear(tape, tape.constant(x), weight, &bias).value();
  // Steps of 1/127 in the weights and 2/127 in x, over 70 products.
  CHECK((small - expected).cwiseAbs().maxCoeff() < 0.15f);
  CHECK((small - expected).cwiseAbs().maxCoeff() > 0);
}

TEST_CASE("linear with an activation is the activation of linear, for any number of rows and any format") {
  const Index n = GENERATE(0, 1, 5, 150);
  const auto kind = GENERATE(Activation::relu, Activation::gelu, Activation::swish);
  const bool recording = GENERATE(false, true);
  CAPTURE(n, static_cast<int>(kind), recording);
  ThreadPool pool(2);
  Tape tape(pool, recording);
  const Matrix x = random_matrix(n, 20, 1);
  Parameter weight = random_parameter(1100, 20, 2), bias = random_parameter(1, 1100, 3);
  Matrix expected = linear(tape, tape.constant(x), weight, &bias).value();
  activate(kind, expected.data(), expected.size());
  CHECK(linear(tape, tape.constant(x), weight, &bias, kind, 0).value() == expected);
}

TEST_CASE("linear refuses to record int8 weights") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  Var x = tape.variable(2, 3, /*wants_gradient=*/true);
  x.mutable_value().setOnes();
  Parameter weight = random_parameter(4, 3, 1);
  weight.packed = PackedMatrix(quantize(weight.view()));
  weight.value.resize(0, 0);
  CHECK_THROWS_WITH(linear(tape, x, weight, nullptr), ContainsSubstring("int8 weights have no gradient"));
}

TEST_CASE("linear of no rows has no rows") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x(0, 3);
  Parameter weight = random_parameter(4, 3, 1), bias = random_parameter(1, 4, 2);
  CHECK(shape(linear(tape, tape.constant(x), weight, &bias)) == "[0, 4]");
}

TEST_CASE("linear refuses an input or a bias of the wrong width and names both shapes") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x = random_matrix(2, 5, 1);
  Parameter weight = random_parameter(4, 3, 2), fits = random_parameter(4, 5, 3), bias = random_parameter(1, 3, 4);
  CHECK_THROWS_WITH(linear(tape, tape.constant(x), weight, nullptr),
                    ContainsSubstring("[2, 5]") && ContainsSubstring("[4, 3]"));
  CHECK_THROWS_WITH(linear(tape, tape.constant(x), fits, &bias),
                    ContainsSubstring("[1, 3]") && ContainsSubstring("[4, 5]"));
}
