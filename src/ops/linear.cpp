#include "ops/linear.h"

#include "gemm/gemm.h"

namespace wasmformer {

Var linear(Tape& tape, Var x, Parameter& weight, Parameter* bias) {
  WASMFORMER_CHECK(x.cols() == weight.value.cols(), "[linear] input " << shape(x) << " and weight "
                                                                      << shape(weight.value)
                                                                      << " differ in columns");
  WASMFORMER_CHECK(!bias || bias->value.cols() == weight.value.rows(),
                   "[linear] bias " << shape(bias->value) << " does not fit weight " << shape(weight.value));
  Var y = tape.variable(x.rows(), weight.value.rows(), x.wants_gradient() || weight.wants_gradient());
  if (bias) {
    tape.for_rows(y.rows(), y.cols(), [&](Index begin, Index end) {
      y.mutable_value().middleRows(begin, end - begin).rowwise() = bias->value.row(0);
    });
  }
  gemm(tape.pool(), x.value(), Op::none, weight.view(), Op::transpose, y.mutable_value(),
       /*accumulate=*/bias != nullptr);

  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, w = &weight, bias](ConstView dy) {
      // y = x Wᵀ + b
      if (x.wants_gradient()) {
        auto [dx, fresh] = tape.gradient(x);
        gemm(tape.pool(), dy, Op::none, w->view(), Op::none, dx, /*accumulate=*/!fresh);
      }
      if (!w->wants_gradient()) return;
      gemm(tape.pool(), dy, Op::transpose, x.value(), Op::none, w->gradient_view(), /*accumulate=*/true);
      if (!bias) return;
      tape.for_columns(dy.cols(), [&](Index begin, Index end) {
        bias->gradient.middleCols(begin, end - begin) += dy.middleCols(begin, end - begin).colwise().sum();
      });
    });
  }
  return y;
}

}  // namespace wasmformer
