#include "ops/dropout.h"

#include <catch_amalgamated.hpp>

#include "ops/attention.h"
#include "ops/embedding.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;

namespace {

constexpr Index n = 100, d = 200;

// Every operation with dropout, on inputs that make each of its [n, d] results 1 where nothing is dropped.
Matrix ones_through(const std::string& operation, Tape& tape, double rate) {
  const Matrix zeros = Matrix::Zero(n, d), ones = Matrix::Ones(n, d);
  if (operation == "residual_norm") {
    Parameter weight{Matrix::Ones(1, d), {}}, bias{Matrix::Zero(1, d), {}};
    Var y = tape.variable(n, d, /*wants_gradient=*/true);
    y.mutable_value() = ones;
    return residual_norm(tape, tape.constant(zeros), y, rate, weight, bias, 1e-5).sum.value();
  }
  if (operation == "linear") {
    Parameter weight{Matrix::Ones(d, 1), {}};
    const Matrix x = Matrix::Ones(n, 1);
    return linear(tape, tape.constant(x), weight, nullptr, Activation::relu, rate).value();
  }
  if (operation == "embedding") {
    Parameter table{Matrix::Zero(1, d), {}}, positions{Matrix::Ones(1, d), {}};
    return embedding(tape, std::vector<TokenId>(n, 0), std::vector<Index>(n, 0), table, &positions, rate).value();
  }
  // All keys alike: each of d values, of which a feature sees one, gets probability 1 / d.
  const Matrix keys = Matrix::Ones(d, d), values = Matrix::Identity(d, d) * static_cast<Scalar>(d);
  return attention(tape, tape.constant(ones), tape.constant(keys), tape.constant(values), spans_of({n}), spans_of({d}),
                   {.heads = 1, .causal = false, .dropout = rate})
      .value();
}

}  // namespace

TEST_CASE("Dropout zeroes its share of the elements and scales the others up") {
  const std::string operation = GENERATE("residual_norm", "linear", "embedding", "attention");
  const double rate = GENERATE(0.1, 0.5);
  CAPTURE(operation, rate);
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/true);
  tape.seed(5);
  const Matrix y = ones_through(operation, tape, rate);
  const auto zero = (y.array() == 0);
  const double share = static_cast<double>(zero.count()) / static_cast<double>(y.size());
  // Four standard deviations of 20,000 draws: 4 √(rate (1 - rate) / 20000).
  CHECK(std::abs(share - rate) < 4 * std::sqrt(rate * (1 - rate) / 20000));
  const Scalar scale = static_cast<Scalar>(1 / (1 - rate));
  CHECK((zero || (y.array() - scale).abs() < 1e-4f).all());
  // No row or column is dropped as a whole.
  CHECK((y.rowwise().sum().array() > 0).all());
  CHECK((y.colwise().sum().array() > 0).all());
  // Nor do parts that different threads work on share their draws.
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < i; ++j)
      if (y.row(i) == y.row(j)) FAIL("rows " << j << " and " << i << " drop the same");

  tape.clear();
  tape.seed(5);
  CHECK(ones_through(operation, tape, rate) == y);
  CHECK(ones_through(operation, tape, rate) != y);  // the next operation of the step draws another mask
  tape.clear();
  tape.seed(6);
  CHECK(ones_through(operation, tape, rate) != y);
}

TEST_CASE("Nothing is dropped when the tape does not record") {
  const std::string operation = GENERATE("residual_norm", "linear", "embedding", "attention");
  CAPTURE(operation);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  CHECK(ones_through(operation, tape, 0.5).isApprox(Matrix::Ones(n, d), 1e-5f));
}
