#include "ops/activation.h"

#include <unsupported/Eigen/SpecialFunctions>

#include "ops/dropout.h"

namespace wasmformer {
namespace {

using Values = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
using Results = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>;

auto normal_cdf(const Values& x) { return Scalar(0.5) * (1 + (x * Scalar(M_SQRT1_2)).erf()); }
auto sigmoid(const Values& x) { return 1 / (1 + (-x).exp()); }

void forward(Activation kind, const Values& x, Results y) {
  switch (kind) {
    case Activation::relu:
      y = x.max(Scalar(0));
      return;
    case Activation::gelu:
      y = x * normal_cdf(x);
      return;
    case Activation::swish:
      y = x * sigmoid(x);
      return;
  }
}

// dx = dy * f'(x)
void backward(Activation kind, const Values& x, Results dx) {
  switch (kind) {
    case Activation::relu:
      dx *= (x > 0).template cast<Scalar>();
      return;
    case Activation::gelu:  // Φ(x) + x φ(x)
      dx *= normal_cdf(x) + x * (x.square() * Scalar(-0.5)).exp() * Scalar(0.3989422804014327);
      return;
    case Activation::swish:  // s + x s (1 - s)
      dx *= sigmoid(x) * (1 + x * (1 - sigmoid(x)));
      return;
  }
}

}  // namespace

Var activation(Tape& tape, Var x, Activation kind, double dropout) {
  const Dropout drop(tape, dropout);
  Var y = tape.variable(x.rows(), x.cols(), x.wants_gradient());
  tape.for_rows(x.rows(), x.cols(), [&](Index begin, Index end) {
    const Index first = begin * x.cols(), count = (end - begin) * x.cols();
    Scalar* out = y.mutable_value().data() + first;
    forward(kind, Values(x.value().data() + first, count), Results(out, count));
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
        backward(kind, Values(x.value().data() + first, count), Results(out, count));
      });
    });
  }
  return y;
}

}  // namespace wasmformer
