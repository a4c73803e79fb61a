#include "ops/add.h"
#include "ops/layer_norm.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

TEST_CASE("The gradients of layer_norm are those of central differences") {
  struct Sizes {
    Index n, d;
  };
  const auto [n, d] = GENERATE(Sizes{0, 4}, Sizes{1, 1}, Sizes{1, 2}, Sizes{3, 5}, Sizes{130, 129});
  CAPTURE(n, d);
  Parameter weight = random_parameter(1, d, 1), bias = random_parameter(1, d, 2);
  check_gradients({random_matrix(n, d, 3)}, {&weight, &bias}, [&](Tape& tape, const std::vector<Var>& x) {
    return layer_norm(tape, x[0], weight, bias, 1e-2);
  });
}

TEST_CASE("layer_norm adds to the gradient of an input with other uses") {
  Parameter weight = random_parameter(1, 5, 1), bias = random_parameter(1, 5, 2);
  const auto both = GENERATE(true, false);
  check_gradients({random_matrix(3, 5, 3)}, {&weight, &bias}, [&](Tape& tape, const std::vector<Var>& x) {
    Var norm = layer_norm(tape, x[0], weight, bias, 1e-5);
    return both ? add(tape, norm, layer_norm(tape, x[0], weight, bias, 1e-5), 0) : add(tape, x[0], norm, 0);
  });
}

TEST_CASE("layer_norm with frozen weights passes the gradient on") {
  Parameter weight = random_parameter(1, 5, 1), bias = random_parameter(1, 5, 2);
  weight.gradient.resize(0, 0);
  bias.gradient.resize(0, 0);
  check_gradients({random_matrix(3, 5, 3)}, {}, [&](Tape& tape, const std::vector<Var>& x) {
    return layer_norm(tape, x[0], weight, bias, 1e-5);
  });
}
