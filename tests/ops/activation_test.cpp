#include "ops/activation.h"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "tensor/matrix.h"

using namespace wasmformer;

TEST_CASE("The activations match their definitions") {
  Matrix x(1, 5);
  x << -100, -1, 0, 1, 100;
  // x Φ(x) and x / (1 + e^-x) at ±1: Φ(1) = 0.8413447461, 1 / (1 + 1/e) = 0.7310585786.
  const auto [kind, expected] =
      GENERATE(table<Activation, std::vector<double>>({{Activation::relu, {0, 0, 0, 1, 100}},
                                                       {Activation::gelu, {0, -0.1586552539, 0, 0.8413447461, 100}},
                                                       {Activation::swish, {0, -0.2689414214, 0, 0.7310585786, 100}},
                                                       {Activation::tanh, {-1, -0.7615941560, 0, 0.7615941560, 1}}}));
  activate(kind, x.data(), x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    CAPTURE(j);
    CHECK(x(0, j) == Catch::Approx(expected[static_cast<std::size_t>(j)]).epsilon(1e-6).margin(1e-9));
  }
}

TEST_CASE("GELU and swish match their formulas along the whole curve, in rows of every length") {
  const Index n = GENERATE(0, 1, 3, 16, 17, 2001);
  Matrix x(1, n);
  for (Index j = 0; j < n; ++j) x(0, j) = static_cast<Scalar>(-12 + 24 * (static_cast<double>(j) + 0.5) / n);
  Matrix gelu = x, swish = x, guarded = Matrix::Constant(1, n + 1, 7);
  activate(Activation::gelu, gelu.data(), n);
  activate(Activation::swish, swish.data(), n);
  guarded.leftCols(n) = x;
  activate(Activation::gelu, guarded.data(), n);
  CHECK(guarded(0, n) == 7);
  for (Index j = 0; j < n; ++j) {
    const double v = static_cast<double>(x(0, j));
    // Φ and the sigmoid to float's last places, times x.
    CHECK(std::abs(static_cast<double>(gelu(0, j)) - v * std::erfc(-v / std::sqrt(2.0)) / 2) <
          2e-7 * std::max(1.0, std::abs(v)));
    CHECK(std::abs(static_cast<double>(swish(0, j)) - v / (1 + std::exp(-v))) < 2e-7 * std::max(1.0, std::abs(v)));
  }
}
