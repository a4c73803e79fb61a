#include "ops/activation.h"

#include <catch_amalgamated.hpp>

#include "tests/ops/random_matrix.h"

using namespace wasmformer;

TEST_CASE("The activations have the values of their definitions") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Matrix x(1, 5);
  x << -100, -1, 0, 1, 100;
  // x Φ(x) and x / (1 + e^-x) at ±1: Φ(1) = 0.8413447461, 1 / (1 + 1/e) = 0.7310585786.
  const auto [kind, expected] = GENERATE(table<Activation, std::vector<double>>(
      {{Activation::relu, {0, 0, 0, 1, 100}},
       {Activation::gelu, {0, -0.1586552539, 0, 0.8413447461, 100}},
       {Activation::swish, {0, -0.2689414214, 0, 0.7310585786, 100}}}));
  Var y = activation(tape, tape.constant(x), kind, 0.5);
  for (Index j = 0; j < x.cols(); ++j) {
    INFO("f(" << x(0, j) << ")");
    CHECK(y.value()(0, j) == Catch::Approx(expected[static_cast<std::size_t>(j)]).epsilon(1e-6).margin(1e-9));
  }
}

TEST_CASE("An activation works on every element of every shape") {
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{4, 0}, Sizes{1, 1}, Sizes{3, 5}, Sizes{130, 129});
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/false);
  const Matrix x = random_matrix(n, d, 1);
  CHECK(activation(tape, tape.constant(x), Activation::relu, 0).value() == Matrix(x.cwiseMax(0)));
}
