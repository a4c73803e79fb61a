#include "ops/activation.h"

#include <numbers>

#include "tensor/vector_math.h"

namespace wasmformer {
namespace {

using Vector = simd::Vector<Scalar>;

Vector normal_cdf(Vector x) { return Scalar(0.5) * (1 + simd::erf(x * Scalar(1 / std::numbers::sqrt2))); }
Vector sigmoid(Vector x) { return 1 / (1 + simd::exp(-x)); }

template <class F>
void replace(Scalar* x, Index n, F f) {
  simd::each_vector<Scalar>(n, [=](Index i, auto count) { simd::store(x + i, f(simd::load(x + i, count)), count); });
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
    case Activation::tanh:
      return replace(x, n, [](Vector v) { return simd::tanh(v); });
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
    case Activation::tanh:
      return multiply(x, dx, n, [](Vector v) {
        const Vector t = simd::tanh(v);
        return 1 - t * t;
      });
  }
}

}  // namespace wasmformer
