#include "ops/linear.h"
#include "tests/ops/central_differences.h"
#include "tests/ops/sum.h"

using namespace wasmformer;

TEST_CASE("The gradients of linear match central differences") {
  struct Sizes {
    Index n, in, out;
  };
  // The last is above the chunks that threads share out.
  const auto [n, in, out] = GENERATE(Sizes{0, 3, 2}, Sizes{1, 1, 1}, Sizes{3, 5, 7}, Sizes{210, 67, 70});
  const bool with_bias = GENERATE(true, false);
  CAPTURE(n, in, out, with_bias);
  Parameter weight = random_parameter(out, in, 1), bias = random_parameter(1, out, 2);
  std::vector<Parameter*> parameters{&weight};
  if (with_bias) parameters.push_back(&bias);
  check_gradients({random_matrix(n, in, 3)}, parameters, [&](Tape& tape, const std::vector<Var>& x) {
    return linear(tape, x[0], weight, with_bias ? &bias : nullptr);
  });
}

TEST_CASE("The gradients of linear with an activation match central differences") {
  const auto kind = GENERATE(Activation::relu, Activation::gelu, Activation::swish);
  struct Sizes {
    Index n, in, out;
  };
  const auto [n, in, out] = GENERATE(Sizes{0, 3, 2}, Sizes{1, 1, 1}, Sizes{7, 5, 3}, Sizes{130, 9, 129});
  const double dropout = GENERATE(0.0, 0.3);
  CAPTURE(static_cast<int>(kind), n, in, out, dropout);
  // Wide enough for both flat ends of the curves.
  Parameter weight = random_parameter(out, in, 1), bias = random_parameter(1, out, 2);
  check_gradients({random_matrix(n, in, 3) * 4}, {&weight, &bias}, [&](Tape& tape, const std::vector<Var>& x) {
    return linear(tape, x[0], weight, &bias, kind, dropout);
  });
}

TEST_CASE("Two products of one input add their gradients") {
  Parameter first = random_parameter(4, 3, 1), second = random_parameter(4, 3, 2);
  check_gradients({random_matrix(5, 3, 3)}, {&first, &second}, [&](Tape& tape, const std::vector<Var>& x) {
    return sum(tape, linear(tape, x[0], first, nullptr), linear(tape, x[0], second, nullptr));
  });
}

TEST_CASE("A weight that is used twice gets both gradients") {
  Parameter weight = random_parameter(3, 3, 1), bias = random_parameter(1, 3, 2);
  check_gradients({random_matrix(5, 3, 3)}, {&weight, &bias}, [&](Tape& tape, const std::vector<Var>& x) {
    return linear(tape, linear(tape, x[0], weight, &bias), weight, &bias);
  });
}

TEST_CASE("A frozen weight passes the gradient on and gets none") {
  Parameter weight = random_parameter(4, 3, 1), bias = random_parameter(1, 4, 2);
  weight.gradient.resize(0, 0);
  bias.gradient.resize(0, 0);
  check_gradients({random_matrix(5, 3, 3)}, {},
                  [&](Tape& tape, const std::vector<Var>& x) { return linear(tape, x[0], weight, &bias); });
  CHECK(weight.gradient.size() == 0);
}

TEST_CASE("A weight gets a gradient from an input that wants none") {
  Parameter weight = random_parameter(4, 3, 1), bias = random_parameter(1, 4, 2);
  const Matrix input = random_matrix(5, 3, 3);
  check_gradients({}, {&weight, &bias}, [&](Tape& tape, const std::vector<Var>&) {
    return linear(tape, tape.constant(input), weight, &bias);
  });
}
