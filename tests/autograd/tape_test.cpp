#include "autograd/tape.h"

#include <catch_amalgamated.hpp>
#include <new>

#include "ops/cross_entropy.h"
#include "ops/linear.h"
#include "tests/ops/random_matrix.h"
#include "tests/ops/sum.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Backward refuses a tape that does not record and a loss that is not a scalar") {
  ThreadPool pool;
  Tape silent(pool, /*recording=*/false), tape(pool, /*recording=*/true);
  CHECK_THROWS_WITH(silent.backward(silent.variable(1, 1, true)), ContainsSubstring("does not record"));
  CHECK_THROWS_WITH(tape.backward(tape.variable(2, 3, true)),
                    ContainsSubstring("[2, 3]") && ContainsSubstring("[1, 1]"));
}

TEST_CASE("Nothing wants a gradient on a tape that does not record") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Parameter weight = random_parameter(3, 2, 1);
  const Matrix x = random_matrix(4, 2, 2);
  CHECK(!linear(tape, tape.constant(x), weight, nullptr).wants_gradient());
  CHECK(!tape.variable(1, 1, true).wants_gradient());
}

TEST_CASE("Gradients flow through what leads to the loss and nowhere else") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  Var x = tape.variable(1, 1, true), aside = tape.variable(1, 1, true);
  x.mutable_value()(0, 0) = 2;
  aside.mutable_value()(0, 0) = 3;
  sum(tape, aside, x);  // leads nowhere
  Var loss = sum(tape, sum(tape, x, x), x);
  tape.backward(loss);
  CHECK(loss.value()(0, 0) == 6);
  CHECK(x.gradient()(0, 0) == 3);
  CHECK_THROWS_WITH(aside.gradient(), ContainsSubstring("no gradient reached") && ContainsSubstring("[1, 1]"));
}

TEST_CASE("The tape's memory does not grow from the second step on") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  Parameter weight = random_parameter(300, 300, 1);
  const Matrix x = random_matrix(900, 300, 2);
  const auto step = [&](Index operations) {
    tape.clear();
    Var y = tape.constant(x);
    for (Index i = 0; i < operations; ++i) y = linear(tape, y, weight, nullptr);
    return tape.bytes();
  };
  step(20);  // fills several blocks, which become one
  const std::size_t bytes = step(20);
  CHECK(step(20) == bytes);
  CHECK(step(3) == bytes);
  CHECK(step(20) == bytes);
}

TEST_CASE("The memory of finished gradients is reused") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  Parameter weight = random_parameter(300, 300, 1);
  weight.gradient.setZero(300, 300);
  const Matrix x = random_matrix(900, 300, 2);
  Var y = tape.constant(x);
  constexpr std::size_t operations = 30;
  for (std::size_t i = 0; i < operations; ++i) y = linear(tape, y, weight, nullptr);
  const std::size_t values = tape.bytes(), one = 900 * 300 * sizeof(Scalar);
  const std::vector<TokenId> targets(900, 0);
  tape.backward(cross_entropy(tape, y, targets, 0).loss);
  CHECK(tape.bytes() - values < operations * one / 2);
}

TEST_CASE("After backward throws, gradients do not reuse the memory of values") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  Parameter weight = random_parameter(30, 30, 1);
  weight.gradient.setZero(30, 30);
  const Matrix x = random_matrix(90, 30, 2);
  const std::vector<TokenId> targets(90, 0);
  bool fails = true;
  const auto gradient = [&]() -> Matrix {
    tape.clear();
    weight.gradient.setZero();
    Var y = linear(tape, tape.constant(x), weight, nullptr);
    tape.record(y, [&fails](ConstView) {
      if (fails) throw std::bad_alloc();
    });
    for (int i = 0; i < 5; ++i) y = linear(tape, y, weight, nullptr);
    tape.backward(cross_entropy(tape, y, targets, 0).loss);
    return weight.gradient;
  };
  CHECK_THROWS_AS(gradient(), std::bad_alloc);
  fails = false;
  const Matrix again = gradient();
  CHECK(again == gradient());
}

TEST_CASE("An operation's matrices are aligned and keep their values until the tape is cleared") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  std::vector<Var> variables;
  for (Index i = 0; i < 40; ++i) {
    variables.push_back(tape.variable(i * 7, 501, false));
    variables.back().mutable_value().setConstant(static_cast<Scalar>(i));
  }
  for (Index i = 0; i < 40; ++i) {
    const ConstView value = variables[static_cast<std::size_t>(i)].value();
    CHECK(reinterpret_cast<std::uintptr_t>(value.data()) % 64 == 0);
    CHECK((value.array() == static_cast<Scalar>(i)).all());
  }
}
