#include "ops/muon_update.h"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "tests/ops/random_matrix.h"

using namespace wasmformer;

namespace {

using Grid = std::vector<std::vector<double>>;

Grid grid_of(const Matrix& m) {
  Grid rows(static_cast<std::size_t>(m.rows()), std::vector<double>(static_cast<std::size_t>(m.cols())));
  for (Index r = 0; r < m.rows(); ++r)
    for (Index c = 0; c < m.cols(); ++c) rows[r][c] = static_cast<double>(m(r, c));
  return rows;
}

Grid product(const Grid& a, const Grid& b) {
  Grid c(a.size(), std::vector<double>(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b[0].size(); ++j)
      for (std::size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

Grid transposed(const Grid& a) {
  Grid t(a[0].size(), std::vector<double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[0].size(); ++j) t[j][i] = a[i][j];
  return t;
}

// x = a x + b x xᵀ x + c x xᵀ x xᵀ x, as the paper has it, whatever the shape.
Grid newton_schulz(Grid x) {
  double squares = 0;
  for (const auto& row : x)
    for (double v : row) squares += v * v;
  for (auto& row : x)
    for (double& v : row) v /= std::sqrt(squares) + 1e-7;
  for (int step = 0; step < 5; ++step) {
    const Grid cubic = product(product(x, transposed(x)), x);
    const Grid quintic = product(product(x, transposed(x)), cubic);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < x[0].size(); ++j)
        x[i][j] = 3.4445 * x[i][j] - 4.775 * cubic[i][j] + 2.0315 * quintic[i][j];
  }
  return x;
}

double difference(const Matrix& a, const Grid& b) {
  double most = 0;
  for (Index r = 0; r < a.rows(); ++r)
    for (Index c = 0; c < a.cols(); ++c) most = std::max(most, std::abs(static_cast<double>(a(r, c)) - b[r][c]));
  return most;
}

// A weight with its gradient and moment.
struct Trained {
  Matrix weights, gradient, mean;

  Trained(Index rows, Index cols, std::uint64_t seed)
      : weights(random_matrix(rows, cols, seed)),
        gradient(random_matrix(rows, cols, seed + 1)),
        mean(Matrix::Zero(rows, cols)) {}
  MatrixUpdate update(Scalar gradient_scale = 1, Scalar keep = 1) {
    const auto values = [](Matrix& m) { return std::span<Scalar>(m.data(), static_cast<std::size_t>(m.size())); };
    return {.values = {.weights = values(weights),
                       .gradient = values(gradient),
                       .mean = values(mean),
                       .variance = {},
                       .gradient_scale = gradient_scale,
                       .keep = keep},
            .rows = weights.rows(),
            .cols = weights.cols()};
  }
};

struct Shape {
  Index rows, cols;
};

}  // namespace

TEST_CASE("Steps of Muon match plain loops in double, for wide, square and tall matrices") {
  const auto [rows, cols] =
      GENERATE(Shape{1, 1}, Shape{1, 7}, Shape{7, 1}, Shape{16, 16}, Shape{20, 65}, Shape{65, 20});
  CAPTURE(rows, cols);
  constexpr double rate = 0.02, momentum = 0.9, gradient_scale = 0.5, keep = 0.99;
  Trained weight(rows, cols, 1);
  Grid w = grid_of(weight.weights), m = grid_of(weight.mean);
  ThreadPool pool;
  for (std::uint64_t step = 0; step < 3; ++step) {
    weight.gradient = random_matrix(rows, cols, 10 + step);
    Grid direction = grid_of(weight.gradient);
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t j = 0; j < w[0].size(); ++j) {
        const double g = (1 - momentum) * gradient_scale * direction[i][j];
        m[i][j] = momentum * m[i][j] + g;
        direction[i][j] = momentum * m[i][j] + g;
      }
    direction = newton_schulz(direction);
    const double tallness = std::max(1.0, static_cast<double>(rows) / static_cast<double>(cols));
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t j = 0; j < w[0].size(); ++j)
        w[i][j] = keep * w[i][j] - rate * std::sqrt(tallness) * direction[i][j];
    const MatrixUpdate update = weight.update(gradient_scale, static_cast<Scalar>(keep));
    muon_update(pool, {&update, 1}, {.rate = rate, .momentum = momentum});
    // Five steps multiply the rounding error of a small singular value by up to 3.4445⁵ = 485; the rate then scales it.
    CHECK(difference(weight.weights, w) < 2e-5);
    CHECK(difference(weight.mean, m) < 1e-6);
    CHECK(weight.gradient.isZero());
  }
}

TEST_CASE("Orthogonalization brings the singular values near 1, also of unequal ones") {
  ThreadPool pool;
  const auto [rows, cols] = GENERATE(Shape{24, 24}, Shape{24, 60}, Shape{60, 24});
  Matrix x = random_matrix(rows, cols, 5);
  x.row(0) *= 10;
  const Matrix y = orthogonalized(pool, x);
  REQUIRE((y.rows() == rows && y.cols() == cols));
  // The sum of the squares of the singular values, of which there are 24; Jordan's steps leave them at 0.7 to 1.2.
  CHECK(y.squaredNorm() / 24 > 0.5);
  CHECK(y.squaredNorm() / 24 < 1.3);
  CHECK(x.squaredNorm() / 24 > 5);
}

TEST_CASE("A matrix without gradient and momentum stays, and so does one with a tiny gradient nearly") {
  ThreadPool pool;
  Trained still(6, 9, 3), decaying(6, 9, 3);
  const Matrix before = still.weights;
  still.gradient.setZero();
  decaying.gradient.setZero();
  const MatrixUpdate updates[] = {still.update(), decaying.update(1, 0.5F)};
  muon_update(pool, updates, {.rate = 0.02, .momentum = 0.95});
  CHECK(still.weights == before);
  CHECK(decaying.weights == before * 0.5F);
  CHECK(still.mean.isZero(0));
  CHECK(orthogonalized(pool, Matrix::Constant(4, 5, 1e-30F)).cwiseAbs().maxCoeff() < 1e-6F);
}

TEST_CASE("Any number of threads gives Muon's steps the same bits") {
  const auto run = [](int threads) {
    ThreadPool pool(threads);
    std::vector<Trained> weights;
    for (std::uint64_t i = 0; i < 7; ++i)
      weights.emplace_back(40 + 30 * static_cast<Index>(i % 3), 130 - 40 * static_cast<Index>(i % 2), 100 * i);
    for (std::uint64_t step = 0; step < 3; ++step) {
      std::vector<MatrixUpdate> updates;
      for (Trained& weight : weights) {
        weight.gradient = random_matrix(weight.weights.rows(), weight.weights.cols(), step);
        updates.push_back(weight.update());
      }
      muon_update(pool, updates, {.rate = 0.02, .momentum = 0.95});
    }
    std::vector<Matrix> all;
    for (const Trained& weight : weights) all.push_back(weight.weights);
    return all;
  };
  const auto one = run(1), two = run(2), three = run(3);
  CHECK(one == two);
  CHECK(one == three);
}
