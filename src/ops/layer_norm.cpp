#include "ops/layer_norm.h"

#include <cmath>

namespace wasmformer {

Var layer_norm(Tape& tape, Var x, Parameter& weight, Parameter& bias, double epsilon) {
  WASMFORMER_CHECK(x.cols() == weight.value.cols() && x.cols() == bias.value.cols(),
                   "[layer_norm] input " << shape(x) << ", weight " << shape(weight.value) << " and bias "
                                         << shape(bias.value) << " differ in columns");
  const Index n = x.rows(), d = x.cols();
  Var y = tape.variable(n, d, x.wants_gradient() || weight.wants_gradient());
  Scalar* mean = tape.scratch<Scalar>(n);
  Scalar* rstd = tape.scratch<Scalar>(n);  // 1 / sqrt(var + epsilon)
  tape.for_rows(n, d, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto row = x.value().row(i).array();
      mean[i] = row.mean();
      rstd[i] = 1 / std::sqrt((row - mean[i]).square().mean() + static_cast<Scalar>(epsilon));
      y.mutable_value().row(i).array() =
          (row - mean[i]) * rstd[i] * weight.value.row(0).array() + bias.value.row(0).array();
    }
  });

  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, w = &weight, b = &bias, mean, rstd](ConstView dy) {
      // y = h weight + bias with h = (x - mean) rstd
      if (x.wants_gradient()) {
        auto [dx, fresh] = tape.gradient(x);
        tape.for_rows(x.rows(), x.cols(), [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i) {
            const auto h = (x.value().row(i).array() - mean[i]) * rstd[i];
            const auto dh = dy.row(i).array() * w->value.row(0).array();
            const Scalar dh_mean = dh.mean(), dhh_mean = (dh * h).mean();
            const auto g = (dh - dh_mean - h * dhh_mean) * rstd[i];
            if (fresh)
              dx.row(i).array() = g;
            else
              dx.row(i).array() += g;
          }
        });
      }
      if (!w->wants_gradient()) return;
      tape.for_columns(x.cols(), [&](Index begin, Index end) {
        const Index size = end - begin;
        auto dw = w->gradient.row(0).segment(begin, size).array();
        auto db = b->gradient.row(0).segment(begin, size).array();
        for (Index i = 0; i < x.rows(); ++i) {
          const auto g = dy.row(i).segment(begin, size).array();
          dw += g * (x.value().row(i).segment(begin, size).array() - mean[i]) * rstd[i];
          db += g;
        }
      });
    });
  }
  return y;
}

}  // namespace wasmformer
