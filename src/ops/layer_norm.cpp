#include "ops/layer_norm.h"

#include <cmath>
#include <functional>

#include "ops/dropout.h"
#include "tensor/simd.h"

namespace wasmformer {
namespace {

using simd::each_vector;
using simd::load;
using simd::store;
using simd::within;
using Vector = simd::Vector<Scalar>;

void check(ErrorCode operation, Var x, const Parameter& weight, const Parameter& bias) {
  WASMFORMER_CHECK(x.cols() == weight.value.cols() && x.cols() == bias.value.cols(), operation,
                   "input " << shape(x) << ", weight " << shape(weight.value) << " and bias " << shape(bias.value)
                            << " differ in columns");
}

Scalar total(Vector v) { return simd::reduce<Scalar>(v, std::plus<>{}); }

struct Moments {
  Scalar mean, rstd;  // rstd = 1 / sqrt(var + epsilon)
};

// y = (z - mean) rstd weight + bias, given Σ z.
Moments normalize(const Scalar* z, Scalar sum, const Scalar* weight, const Scalar* bias, Scalar epsilon, Scalar* y,
                  Index d) {
  const Scalar mean = sum / static_cast<Scalar>(d);
  Vector squares{};
  each_vector<Scalar>(d, [&](Index c, auto count) {
    const Vector centred = within(load(z + c, count) - mean, count);
    squares = simd::multiply_add(centred, centred, squares);
  });
  const Scalar rstd = 1 / std::sqrt(total(squares) / static_cast<Scalar>(d) + epsilon);
  each_vector<Scalar>(d, [&](Index c, auto count) {
    const Vector h = (load(z + c, count) - mean) * rstd;
    store(y + c, simd::multiply_add(h, load(weight + c, count), load(bias + c, count)), count);
  });
  return {mean, rstd};
}

// dz of a row; adds to the gradients of weight and bias where they are not null.
void normalize_backward(const Scalar* z, Moments m, const Scalar* weight, const Scalar* dy, Scalar* dz, Scalar* dweight,
                        Scalar* dbias, Index d) {
  // y = h weight + bias with h = (z - mean) rstd
  Vector dh_sum{}, dhh_sum{};
  each_vector<Scalar>(d, [&](Index c, auto count) {
    const Vector g = load(dy + c, count), dh = g * load(weight + c, count);
    const Vector h = (load(z + c, count) - m.mean) * m.rstd;
    dh_sum += dh;
    dhh_sum = simd::multiply_add(dh, h, dhh_sum);  // dh is 0 beyond the row
    if (!dweight) return;
    store(dweight + c, simd::multiply_add(g, h, load(dweight + c, count)), count);
    store(dbias + c, load(dbias + c, count) + g, count);
  });
  const Scalar dh_mean = total(dh_sum) / static_cast<Scalar>(d), dhh_mean = total(dhh_sum) / static_cast<Scalar>(d);
  each_vector<Scalar>(d, [&](Index c, auto count) {
    const Vector dh = load(dy + c, count) * load(weight + c, count);
    const Vector h = (load(z + c, count) - m.mean) * m.rstd;
    store(dz + c, (dh - dh_mean - h * dhh_mean) * m.rstd, count);
  });
}

// Rows in chunks of a size that follows from the shape alone, with sums of a chunk's own.
class Chunks {
 public:
  Chunks(Index n, Index d) : n_(n), grain_(std::max<Index>({1, 16384 / std::max<Index>(d, 1), (n + 31) / 32})) {}
  Index count() const { return (n_ + grain_ - 1) / grain_; }
  template <class F>
  void run(ThreadPool& pool, F&& body) const {
    pool.parallel_for(n_, grain_, [&](Index begin, Index end) { body(begin / grain_, begin, end); });
  }

 private:
  Index n_, grain_;
};

// Walks the rows backwards: row(i, dz, dweight, dbias) computes one; sums of the chunks join in order.
template <class F>
void backward_rows(Tape& tape, Index n, Index d, const Parameter& weight, const Parameter& bias, F&& row) {
  const Chunks chunks(n, d);
  // Scratch of each chunk, [3, d]: a row of dz, and sums for weight and bias.
  Scalar* scratch = tape.scratch<Scalar>(chunks.count() * 3 * d);
  const bool sums = weight.wants_gradient();
  chunks.run(tape.pool(), [&](Index chunk, Index begin, Index end) {
    Scalar *dz = scratch + chunk * 3 * d, *dweight = dz + d, *dbias = dweight + d;
    std::fill(dweight, dbias + d, Scalar(0));
    for (Index i = begin; i < end; ++i) row(i, dz, sums ? dweight : nullptr, sums ? dbias : nullptr);
  });
  for (Index chunk = 0; sums && chunk < chunks.count(); ++chunk) {
    weight.gradient += ConstView(scratch + (chunk * 3 + 1) * d, 1, d);
    bias.gradient += ConstView(scratch + (chunk * 3 + 2) * d, 1, d);
  }
}

// to = or += from
void add_row(const Scalar* from, Scalar* to, Index d, bool fresh) {
  for (Index c = 0; c < d; ++c) to[c] = fresh ? from[c] : to[c] + from[c];
}

// z += x; returns Σ z.
Scalar add_and_sum(const Scalar* x, Scalar* z, Index d) {
  Vector sum{};
  each_vector<Scalar>(d, [&](Index c, auto count) {
    const Vector v = load(x + c, count) + load(z + c, count);
    store(z + c, v, count);
    sum += v;
  });
  return total(sum);
}

// The gradient of x as memory to write to: null if x wants none.
struct InputGradient {
  Scalar* to;
  bool fresh;

  void add(const Scalar* dz, Index i, Index d) const {
    if (to) add_row(dz, to + i * d, d, fresh);
  }
};

InputGradient input_gradient(Tape& tape, Var x) {
  if (!x.wants_gradient()) return {nullptr, true};
  GradientSlot slot = tape.gradient(x);
  return {slot.view.data(), slot.fresh};
}

}  // namespace

Var layer_norm(Tape& tape, Var x, const Parameter& weight, const Parameter& bias, double epsilon) {
  check(ErrorCode::layer_norm, x, weight, bias);
  const Index n = x.rows(), d = x.cols();
  Var y = tape.variable(n, d, x.wants_gradient() || weight.wants_gradient());
  Moments* moments = tape.scratch<Moments>(n);
  tape.for_rows(n, d, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Scalar* row = x.value().data() + i * d;
      Vector sum{};
      each_vector<Scalar>(d, [&](Index c, auto count) { sum += load(row + c, count); });
      moments[i] = normalize(row, total(sum), weight.value.data(), bias.value.data(), static_cast<Scalar>(epsilon),
                             y.mutable_value().data() + i * d, d);
    }
  });

  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, w = &weight, b = &bias, moments, n, d](ConstView dy) {
      const InputGradient dx = input_gradient(tape, x);
      backward_rows(tape, n, d, *w, *b, [&](Index i, Scalar* dz, Scalar* dweight, Scalar* dbias) {
        normalize_backward(x.value().data() + i * d, moments[i], w->value.data(), dy.data() + i * d, dz, dweight, dbias,
                           d);
        dx.add(dz, i, d);
      });
    });
  }
  return y;
}

ResidualNorm residual_norm(Tape& tape, Var x, Var y, double dropout, const Parameter& weight, const Parameter& bias,
                           double epsilon) {
  WASMFORMER_CHECK(x.rows() == y.rows() && x.cols() == y.cols(), ErrorCode::residual_norm,
                   "shapes " << shape(x) << " and " << shape(y) << " differ");
  check(ErrorCode::residual_norm, x, weight, bias);
  const Index n = x.rows(), d = x.cols();
  const Dropout drop(tape, dropout, d);
  const bool wanted = x.wants_gradient() || y.wants_gradient();
  const ResidualNorm result{tape.variable_over(y, wanted), tape.variable(n, d, wanted || weight.wants_gradient())};
  Var sum = result.sum, norm = result.norm;
  Moments* moments = tape.scratch<Moments>(n);
  tape.for_rows(n, d, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Scalar* z = sum.mutable_value().data() + i * d;
      drop.apply(z, i * d, d);
      const Scalar sum_of_z = add_and_sum(x.value().data() + i * d, z, d);
      moments[i] = normalize(z, sum_of_z, weight.value.data(), bias.value.data(), static_cast<Scalar>(epsilon),
                             norm.mutable_value().data() + i * d, d);
    }
  });

  if (norm.wants_gradient()) {
    tape.record(norm, [&tape, x, y, sum, w = &weight, b = &bias, moments, drop, n, d](ConstView dnorm) {
      // sum = x + y * mask; the gradient of y takes the memory of `sum`, row by row
      const Scalar* dsum = tape.gradient_or_null(sum);
      const InputGradient dx = input_gradient(tape, x);
      Scalar* dy = y.wants_gradient() ? tape.gradient_reusing_value(y).view.data() : nullptr;
      backward_rows(tape, n, d, *w, *b, [&](Index i, Scalar* dz, Scalar* dweight, Scalar* dbias) {
        normalize_backward(sum.value().data() + i * d, moments[i], w->value.data(), dnorm.data() + i * d, dz, dweight,
                           dbias, d);
        if (dsum) add_row(dsum + i * d, dz, d, /*fresh=*/false);
        dx.add(dz, i, d);
        if (!dy) return;
        std::copy_n(dz, d, dy + i * d);
        drop.apply(dy + i * d, i * d, d);
      });
    });
  }
  return result;
}

}  // namespace wasmformer
