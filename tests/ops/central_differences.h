// Compares what backward() gives with central differences, in double (files named *_gradient_test.cpp).
#pragma once

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <functional>
#include <vector>

#include "autograd/tape.h"
#include "tests/ops/random_matrix.h"

namespace wasmformer {

static_assert(sizeof(Scalar) == 8, "float cannot tell a wrong gradient from a rounding error");

// `build` makes a result of any shape from variables that hold `inputs`, and from `parameters`. Its elements
// are summed with random weights; the derivative of that sum by every input and parameter is compared, in at
// most `places` elements of each. Every pass draws the same dropout.
inline void check_gradients(std::vector<Matrix> inputs, const std::vector<Parameter*>& parameters,
                            const std::function<Var(Tape&, const std::vector<Var>&)>& build, Index places = 60) {
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/true);
  std::vector<Var> variables;
  const auto loss = [&] {
    tape.clear();
    tape.seed(7);
    variables.clear();
    for (const Matrix& input : inputs) {
      variables.push_back(tape.variable(input.rows(), input.cols(), /*wants_gradient=*/true));
      variables.back().mutable_value() = input;
    }
    Var result = build(tape, variables);
    Var sum = tape.variable(1, 1, /*wants_gradient=*/true);
    const Matrix weights = random_matrix(result.rows(), result.cols(), 99);
    sum.mutable_value()(0, 0) = (result.value().array() * weights.array()).sum();
    tape.record(sum, [&tape, result](ConstView upstream) {
      tape.add_gradient(result, random_matrix(result.rows(), result.cols(), 99) * upstream(0, 0));
    });
    return sum;
  };

  // Operations add to what is there.
  for (Parameter* p : parameters) p->gradient.setConstant(p->value.rows(), p->value.cols(), 0.5);
  tape.backward(loss());
  std::vector<Matrix> analytic;
  for (Var v : variables) analytic.push_back(v.gradient());
  for (Parameter* p : parameters) analytic.push_back(p->gradient.array() - 0.5);
  std::vector<Matrix*> matrices;
  for (Matrix& input : inputs) matrices.push_back(&input);
  for (Parameter* p : parameters) matrices.push_back(&p->value);

  // The error of a difference is about step² = 1e-10 (truncation) plus 1e-16 / step = 1e-11 (rounding), times
  // what the sum and its third derivative measure: a few hundred at most here.
  constexpr double step = 1e-5, limit = 1e-7;
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    Matrix& x = *matrices[m];
    double worst = 0, worst_analytic = 0, worst_numeric = 0;
    Index worst_at = 0;
    for (Index at = 0; at < x.size(); at += std::max<Index>(1, x.size() / places)) {
      const Scalar value = x.data()[at];
      x.data()[at] = value + step;
      const double above = loss().value()(0, 0);
      x.data()[at] = value - step;
      const double below = loss().value()(0, 0);
      x.data()[at] = value;
      const double numeric = (above - below) / (2 * step), gradient = analytic[m].data()[at];
      const double error = std::abs(numeric - gradient) / std::max({1.0, std::abs(numeric), std::abs(gradient)});
      if (error <= worst) continue;  // not a number is never at most the worst
      worst = error, worst_at = at, worst_analytic = gradient, worst_numeric = numeric;
    }
    INFO("matrix " << m << " " << shape(x) << ", element " << worst_at << ": backward gives " << worst_analytic
                   << ", central differences " << worst_numeric);
    CHECK(worst < limit);
  }
}

}  // namespace wasmformer
