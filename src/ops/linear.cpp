#include "ops/linear.h"

#include "gemm/gemm.h"

namespace wasmformer {

Var linear(Tape& tape, Var x, Parameter& weight, Parameter* bias) {
  WASMFORMER_CHECK(x.cols() == weight.cols, "[linear] input " << shape(x) << " and weight [" << weight.rows
                                                              << ", " << weight.cols
                                                              << "] differ in columns");
  WASMFORMER_CHECK(!bias || bias->cols == weight.rows, "[linear] bias [1, "
                                                           << bias->cols << "] does not fit weight ["
                                                           << weight.rows << ", " << weight.cols << "]");
  Var y = tape.variable(x.rows(), weight.rows, x.wants_gradient() || weight.wants_gradient());
  const GemmOptions options{.bias = bias ? bias->value.data() : nullptr};
  if (weight.is_packed() && !y.wants_gradient()) {
    if (weight.packed.format() == PackedMatrix::Format::int8)
      gemm(tape.pool(), tape.quantized(x), weight.packed, y.mutable_value(), options);
    else
      gemm(tape.pool(), x.value(), weight.packed, y.mutable_value(), options);
    return y;
  }
  WASMFORMER_CHECK(weight.value.size() == weight.rows * weight.cols,
                   "[linear] a weight of int8 has no gradient; train from the float model");
  gemm(tape.pool(), x.value(), Op::none, weight.view(), Op::transpose, y.mutable_value(), options);

  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, w = &weight, bias](ConstView dy) {
      // y = x Wᵀ + b
      if (x.wants_gradient()) {
        auto [dx, fresh] = tape.gradient(x);
        gemm(tape.pool(), dy, Op::none, w->view(), Op::none, dx, {.accumulate = !fresh});
      }
      if (!w->wants_gradient()) return;
      gemm(tape.pool(), dy, Op::transpose, x.value(), Op::none, w->gradient_view(), {.accumulate = true});
      if (!bias) return;
      tape.for_columns(dy.cols(), [&](Index begin, Index end) {
        bias->gradient.middleCols(begin, end - begin) += dy.middleCols(begin, end - begin).colwise().sum();
      });
    });
  }
  return y;
}

}  // namespace wasmformer
