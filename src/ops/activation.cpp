#include "ops/activation.h"

#include <numbers>

#include "ops/dropout.h"
#include "tensor/vector_math.h"

namespace wasmformer {
namespace {

using Vector = simd::Vector<Scalar>;

Vector normal_cdf(Vector x) { return Scalar(0.5) * (1 + simd::erf(x * Scalar(1 / std::numbers::sqrt2))); }
Vector sigmoid(Vector x) { return 1 / (1 + simd::exp(-x)); }

template <class F>
void replace(Scalar* x, Index n, F f) {
  simd::each_vector<Scalar>(
      n, [=](Index i, auto count) { simd::store(x + i, f(simd::load(x + i, count)), count); });
}

// dx *= derivative(x)
template <class F>
void multiply(const Scalar* x, Scalar* dx, Index n, F derivative) {
  simd::each_vector<Scalar>(n, [=](Index i, auto count) {
    simd::store(dx + i, simd::load(dx + i, count) * derivative(simd::load(x + i, count)), count);
  });
}

}  // namespace

void activate(Activation kind, Scalar* x, Index n) {
  switch (kind) {
    case Activation::relu:
      return replace(x, n, [](Vector v) { return v < 0 ? Vector{} : v; });
    case Activation::gelu:
      return replace(x, n, [](Vector v) { return v * normal_cdf(v); });
    case Activation::swish:
      return replace(x, n, [](Vector v) { return v * sigmoid(v); });
  }
}

void activate_backward(Activation kind, const Scalar* x, Scalar* dx, Index n) {
  switch (kind) {
    case Activation::relu:
      return multiply(x, dx, n, [](Vector v) { return v > 0 ? Vector{} + 1 : Vector{}; });
    case Activation::gelu:  // Φ(x) + x φ(x)
      return multiply(x, dx, n, [](Vector v) {
        return normal_cdf(v) +
               v * simd::exp(v * v * Scalar(-0.5)) * Scalar(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
      });
    case Activation::swish:  // s + x s (1 - s)
      return multiply(x, dx, n, [](Vector v) {
        const Vector s = sigmoid(v);
        return s * (1 + v * (1 - s));
      });
  }
}

Var activation(Tape& tape, Var x, Activation kind, double dropout) {
  const Dropout drop(tape, dropout);
  Var y = tape.variable(x.rows(), x.cols(), x.wants_gradient());
  tape.for_rows(x.rows(), x.cols(), [&](Index begin, Index end) {
    const Index first = begin * x.cols(), count = (end - begin) * x.cols();
    Scalar* out = y.mutable_value().data() + first;
    std::copy_n(x.value().data() + first, count, out);
    activate(kind, out, count);
    drop.apply(out, first, count);
  });

  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, kind, drop](ConstView dy) {
      // y = f(x) * mask
      auto [dx, fresh] = tape.gradient(x);
      WASMFORMER_CHECK(fresh, "[activation] the input has other uses");
      tape.for_rows(dy.rows(), dy.cols(), [&](Index begin, Index end) {
        const Index first = begin * dy.cols(), count = (end - begin) * dy.cols();
        Scalar* out = dx.data() + first;
        std::copy_n(dy.data() + first, count, out);
        drop.apply(out, first, count);
        activate_backward(kind, x.value().data() + first, out, count);
      });
    });
  }
  return y;
}

}  // namespace wasmformer
