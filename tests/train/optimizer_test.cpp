#include "train/optimizer.h"

#include <catch_amalgamated.hpp>
#include <limits>

#include "ops/muon_update.h"
#include "schema/error.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Approx;

TEST_CASE("Adam's steps match the paper's formulas") {
  TrainingConfig c;
  c.beta1 = 0.9;
  c.beta2 = 0.98;
  c.epsilon = 0.1;  // large enough to show
  Parameter p{Matrix::Constant(1, 1, 1), Matrix::Constant(1, 1, 0.5)};
  Optimizer adam({&p}, c);
  ThreadPool pool;
  // m = 0.05, v = 0.005; both corrected: 0.5, 0.25. w = 1 - 0.1 · 0.5 / (0.5 + 0.1)
  CHECK(adam.step(pool, 1, 0.1) == Approx(0.5));
  CHECK(p.value(0, 0) == Approx(0.9166666667).epsilon(1e-6));
  CHECK(p.gradient(0, 0) == 0);
  // g = -1: m = -0.055, v = 0.0249; corrected by 0.19 and 0.0396: -0.2894736842, 0.6287878788.
  // w += 0.2 · 0.2894736842 / (0.7929614610 + 0.1)
  p.gradient(0, 0) = -1;
  CHECK(adam.step(pool, 2, 0.2) == Approx(1));
  CHECK(p.value(0, 0) == Approx(0.9815011960).epsilon(1e-6));
  CHECK(adam.moments()[0].mean(0, 0) == Approx(-0.055).epsilon(1e-6));
  CHECK(adam.moments()[0].variance(0, 0) == Approx(0.0249).epsilon(1e-6));
}

TEST_CASE("AdamW decays weight matrices directly, not through the moments, and leaves vectors alone") {
  TrainingConfig c;
  c.optimizer = OptimizerKind::adamw;
  c.weight_decay = 0.2;
  c.epsilon = 0.1;
  Parameter matrix{Matrix::Constant(2, 1, 1), Matrix::Constant(2, 1, 0.5)};
  Parameter row{Matrix::Constant(1, 1, 1), Matrix::Constant(1, 1, 0.5)};
  Optimizer adamw({&matrix, &row}, c);
  ThreadPool pool;
  adamw.step(pool, 1, 0.1);
  // The step of Adam is 0.1 · 0.5 / (0.5 + 0.1); the decay 0.1 · 0.2.
  CHECK(matrix.value(1, 0) == Approx(1 - 0.02 - 0.08333333333).epsilon(1e-6));
  CHECK(row.value(0, 0) == Approx(1 - 0.08333333333).epsilon(1e-6));
  CHECK(adamw.moments()[0].mean(0, 0) == Approx(0.05).epsilon(1e-6));
  // What is frozen does not decay either, and its gradient does not count.
  const Matrix before = matrix.value;
  matrix.gradient.setConstant(100);
  row.gradient.setConstant(0.25);
  CHECK(adamw.step(pool, 2, 0.1, 1) == Approx(0.25));
  CHECK(matrix.value == before);
  CHECK(matrix.gradient.isZero());
  CHECK(row.value(0, 0) != Approx(1 - 0.08333333333).epsilon(1e-6));
}

TEST_CASE("sgd adds its momentum to every step") {
  TrainingConfig c;
  c.optimizer = OptimizerKind::sgd;
  c.beta1 = 0.5;
  Parameter p{Matrix::Constant(1, 1, 1), Matrix::Constant(1, 1, 0.5)};
  Optimizer sgd({&p}, c);
  ThreadPool pool;
  sgd.step(pool, 1, 0.1);
  CHECK(p.value(0, 0) == Approx(0.95));
  p.gradient(0, 0) = 1;
  sgd.step(pool, 2, 0.1);  // velocity 0.5 · 0.5 + 1
  CHECK(p.value(0, 0) == Approx(0.825));
}

TEST_CASE("Muon changes the matrices in layers at its own rate, and Adam all else") {
  TrainingConfig c;
  c.optimizer = OptimizerKind::muon;
  c.muon_momentum = 0.9;
  c.clip_norm = 1;
  c.weight_decay = 0.5;
  TrainingConfig of_adam = c;
  of_adam.optimizer = OptimizerKind::adamw;
  const auto with_gradient = [](std::uint64_t seed) {
    return Parameter{random_matrix(4, 6, seed), random_matrix(4, 6, seed + 1)};
  };
  Parameter layer = with_gradient(1), table = with_gradient(3), also_layer = with_gradient(1), also_table = table;
  const Matrix before = layer.value, gradient = layer.gradient;
  Optimizer muon({&layer, &table}, c, {}, {true, false}), adam({&also_layer, &also_table}, of_adam);
  ThreadPool pool;
  const double norm = muon.step(pool, 1, 0.1, 0, 0.02);
  CHECK(adam.step(pool, 1, 0.1) == norm);
  REQUIRE(norm > 1);
  CHECK(table.value == also_table.value);
  const Matrix direction = orthogonalized(pool, gradient);
  CHECK((layer.value - (before * 0.99F - 0.02F * direction)).cwiseAbs().maxCoeff() < 1e-5F);
  CHECK((muon.moments()[0].mean - gradient * static_cast<Scalar>(0.1 / norm)).cwiseAbs().maxCoeff() < 1e-6F);
  CHECK(muon.moments()[0].variance.size() == 0);
  CHECK(muon.moments()[1].variance.size() == 24);
  // Frozen parameters stay.
  const Matrix kept = layer.value;
  layer.gradient.setOnes();
  muon.step(pool, 2, 0.1, 1, 0.02);
  CHECK(layer.value == kept);
  CHECK(layer.gradient.isZero());
}

TEST_CASE("Quantization-aware training sees rounded weights, yet accumulates steps smaller than the rounding") {
  TrainingConfig c;
  c.optimizer = OptimizerKind::sgd;
  c.beta1 = 0;
  c.quantization_aware = true;
  Matrix values(2, 2);
  values << 127, 10, 0.5, 0.254;  // scales 1 and 0.5 / 127
  Parameter rounded{values, Matrix::Zero(2, 2)}, kept{values, Matrix::Zero(2, 2)};
  Optimizer sgd({&rounded, &kept}, c, {true, false});
  ThreadPool pool;
  for (Index step = 1; step <= 4; ++step) {
    rounded.gradient(0, 1) = kept.gradient(0, 1) = -1;
    sgd.step(pool, step, 0.15);
    CHECK(kept.value(0, 1) == Approx(10 + 0.15 * static_cast<double>(step)));
    CHECK(rounded.value(0, 1) == Approx(step < 4 ? 10 : 11));
    CHECK(rounded.value(0, 0) == Approx(127));
    CHECK(rounded.value(1, 1) == Approx(65 * 0.5 / 127));
    CHECK(kept.value(1, 1) == 0.254F);
  }
}

TEST_CASE("Quantization-aware training may round to 4 bits, and begin after some steps") {
  TrainingConfig c;
  c.optimizer = OptimizerKind::sgd;
  c.beta1 = 0;
  c.quantization_aware = true;
  c.quantization_bits = 4;
  c.quantization_start = 2;
  Matrix values(1, 3);
  values << 2, 0.1, -0.5;  // numbers of NF4 beside 0.05: 0 and 0.0796; beside -0.25: -0.284
  Parameter p{values, Matrix::Zero(1, 3)};
  Optimizer sgd({&p}, c, {true});
  ThreadPool pool;
  for (Index step = 1; step <= 2; ++step) {
    sgd.step(pool, step, 0.1);
    CHECK(p.value == values);
  }
  sgd.step(pool, 3, 0.1);
  CHECK(p.value(0, 0) == Approx(2));
  CHECK(p.value(0, 1) == Approx(2 * 0.0795803));
  CHECK(p.value(0, 2) == Approx(2 * -0.28444138));
  CHECK(sgd.moments()[0].exact == values);
  c.quantization_bits = 6;
  CHECK_THROWS_WITH(c.check(), Catch::Matchers::ContainsSubstring("quantization_bits is 6; files have"));
}

TEST_CASE("Clipping scales all gradients together, and only if they exceed the norm") {
  TrainingConfig c;
  c.clip_norm = 1;
  ThreadPool pool;
  // 3 and 4 are of norm 5, in two parameters.
  const auto means = [&](double scale) {
    Parameter a{Matrix::Zero(1, 1), Matrix::Constant(1, 1, static_cast<Scalar>(3 * scale))};
    Parameter b{Matrix::Zero(1, 1), Matrix::Constant(1, 1, static_cast<Scalar>(4 * scale))};
    Optimizer adam({&a, &b}, c);
    CHECK(adam.step(pool, 1, 0.1) == Approx(5 * scale));
    return std::pair(adam.moments()[0].mean(0, 0), adam.moments()[1].mean(0, 0));  // (1 - 0.9) g
  };
  CHECK(means(1).first == Approx(0.06));
  CHECK(means(1).second == Approx(0.08));
  CHECK(means(0.1).first == Approx(0.03));
  CHECK(means(0.1).second == Approx(0.04));
  c.clip_norm = 0;
  CHECK(means(1).first == Approx(0.3));
}

TEST_CASE("A non-finite gradient is refused and changes nothing") {
  const float bad = GENERATE(std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN());
  Parameter a = random_parameter(2, 3, 1), b = random_parameter(1, 3, 2);
  a.gradient.setOnes();
  Optimizer adam({&a, &b}, {});
  ThreadPool pool;
  adam.step(pool, 1, 0.1);
  const Matrix value = a.value, other = b.value, mean = adam.moments()[0].mean;
  a.gradient.setOnes();
  b.gradient(0, 1) = bad;
  CHECK_THROWS_WITH(adam.step(pool, 2, 0.1),
                    Catch::Matchers::ContainsSubstring("step 2") && Catch::Matchers::ContainsSubstring("not finite"));
  CHECK(a.value == value);
  CHECK(b.value == other);
  CHECK(adam.moments()[0].mean == mean);
}
