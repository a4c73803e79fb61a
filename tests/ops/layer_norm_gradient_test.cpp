#include "ops/layer_norm.h"
#include "tests/ops/central_differences.h"
#include "tests/ops/sum.h"

using namespace wasmformer;

TEST_CASE("The gradients of layer_norm match central differences") {
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{1, 1}, Sizes{1, 2}, Sizes{3, 5}, Sizes{130, 129});
  CAPTURE(n, d);
  Parameter weight = random_parameter(1, d, 1), bias = random_parameter(1, d, 2);
  check_gradients({random_matrix(n, d, 3)}, {&weight, &bias},
                  [&](Tape& tape, const std::vector<Var>& x) { return layer_norm(tape, x[0], weight, bias, 1e-2); });
}

TEST_CASE("layer_norm adds to the gradient of an input with other uses") {
  Parameter weight = random_parameter(1, 5, 1), bias = random_parameter(1, 5, 2);
  const auto both = GENERATE(true, false);
  check_gradients({random_matrix(3, 5, 3)}, {&weight, &bias}, [&](Tape& tape, const std::vector<Var>& x) {
    Var norm = layer_norm(tape, x[0], weight, bias, 1e-5);
    return both ? sum(tape, norm, layer_norm(tape, x[0], weight, bias, 1e-5)) : sum(tape, x[0], norm);
  });
}

TEST_CASE("layer_norm with frozen weights passes the gradient on") {
  Parameter weight = random_parameter(1, 5, 1), bias = random_parameter(1, 5, 2);
  weight.gradient.resize(0, 0);
  bias.gradient.resize(0, 0);
  check_gradients({random_matrix(3, 5, 3)}, {},
                  [&](Tape& tape, const std::vector<Var>& x) { return layer_norm(tape, x[0], weight, bias, 1e-5); });
}

TEST_CASE("The gradients of residual_norm match central differences") {
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{1, 2}, Sizes{3, 5}, Sizes{2, 64}, Sizes{140, 129});
  const double dropout = GENERATE(0.0, 0.3);
  CAPTURE(n, d, dropout);
  Parameter weight = random_parameter(1, d, 1), bias = random_parameter(1, d, 2);
  const Matrix x = random_matrix(n, d, 3), y = random_matrix(n, d, 4);
  const auto op = [&](Tape& tape, Var a, Var b) { return residual_norm(tape, a, b, dropout, weight, bias, 1e-2); };
  SECTION("through the norm, as after a sublayer of post-norm") {
    check_gradients({x, y}, {&weight, &bias},
                    [&](Tape& tape, const std::vector<Var>& in) { return op(tape, in[0], in[1]).norm; });
  }
  SECTION("through both results, and an input with other uses, as in pre-norm") {
    check_gradients({x, y}, {&weight, &bias}, [&](Tape& tape, const std::vector<Var>& in) {
      const ResidualNorm result = op(tape, in[0], in[1]);
      return sum(tape, sum(tape, result.norm, result.sum), in[0]);
    });
  }
  SECTION("of one input, with frozen weights") {
    weight.gradient.resize(0, 0);
    bias.gradient.resize(0, 0);
    const bool first = GENERATE(true, false);
    check_gradients({first ? x : y}, {}, [&](Tape& tape, const std::vector<Var>& in) {
      Var other = tape.variable(n, d, /*wants_gradient=*/false);
      other.mutable_value() = first ? y : x;
      return first ? op(tape, in[0], other).norm : op(tape, other, in[0]).norm;
    });
  }
}
