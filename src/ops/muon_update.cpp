#include "ops/muon_update.h"

#include <algorithm>
#include <cmath>

#include "gemm/gemm.h"

namespace wasmformer {
namespace {

ConstView in(const Matrix& m) { return {m.data(), m.rows(), m.cols()}; }
View out(Matrix& m) { return {m.data(), m.rows(), m.cols()}; }

void update_matrix(ThreadPool& pool, const MatrixUpdate& matrix, const MuonStep& step) {
  const WeightUpdate& values = matrix.values;
  const auto of = [&](std::span<Scalar> all) { return View(all.data(), matrix.rows, matrix.cols); };
  View w = of(values.weights), g = of(values.gradient), m = of(values.mean);
  const Scalar beta = static_cast<Scalar>(step.momentum);
  g *= (1 - beta) * values.gradient_scale;
  m = beta * m + g;
  const Matrix direction = orthogonalized(pool, beta * m + g);
  const double tallness = static_cast<double>(matrix.rows) / static_cast<double>(matrix.cols);
  const Scalar step_size = static_cast<Scalar>(step.rate * std::sqrt(std::max(1.0, tallness)));
  w = values.keep * w - step_size * direction;
  g.setZero();
}

}  // namespace

Matrix orthogonalized(ThreadPool& pool, Matrix x) {
  constexpr int steps = 5;
  constexpr Scalar a = 3.4445F, b = -4.775F, c = 2.0315F;
  constexpr Scalar least_norm = 1e-7F;  // keeps zero from being divided by zero
  // x xᵀ is smaller than xᵀ x for a wide matrix.
  const bool is_tall = x.rows() > x.cols();
  if (is_tall) x = Matrix(x.transpose());
  x /= x.norm() + least_norm;
  Matrix squares(x.rows(), x.rows()), factor(x.rows(), x.rows()), next(x.rows(), x.cols());
  for (int step = 0; step < steps; ++step) {
    // x = a x + (b x xᵀ + c (x xᵀ)²) x
    gemm(pool, in(x), Op::none, in(x), Op::transpose, out(squares));
    gemm(pool, in(squares), Op::none, in(squares), Op::none, out(factor));
    factor = b * squares + c * factor;
    next = a * x;
    gemm(pool, in(factor), Op::none, in(x), Op::none, out(next), {.accumulate = true});
    x.swap(next);
  }
  if (is_tall) x = Matrix(x.transpose());
  return x;
}

void muon_update(ThreadPool& pool, std::span<const MatrixUpdate> matrices, const MuonStep& step) {
  // A matrix per thread; the products inside then have one thread each, and the same bits as with many.
  pool.parallel_for(static_cast<Index>(matrices.size()), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) update_matrix(pool, matrices[i], step);
  });
}

}  // namespace wasmformer
