#include "ops/linear_rows.h"

#include "gemm/gemm.h"

namespace wasmformer {
namespace {

void check(Var x, const Parameter& weight, const Parameter* bias, std::span<const TokenId> rows,
           std::span<const Scalar> offsets) {
  WASMFORMER_CHECK(
      x.cols() == weight.cols && (!bias || bias->cols == weight.rows), ErrorCode::linear,
      "input " << shape(x) << " and weight [" << weight.rows << ", " << weight.cols << "] or its bias do not fit");
  WASMFORMER_CHECK(weight.has_value(), ErrorCode::linear, "int8 weights have no gradient; train the float model");
  WASMFORMER_CHECK(rows.size() == offsets.size(), ErrorCode::linear,
                   rows.size() << " rows and " << offsets.size() << " offsets");
  for (const TokenId row : rows)
    WASMFORMER_CHECK(row >= 0 && row < weight.rows, ErrorCode::linear,
                     "row " << row << " is not below " << weight.rows);
}

void add_bias_gradient(Tape& tape, const Parameter& bias, std::span<const TokenId> rows, ConstView dy) {
  tape.for_columns(dy.cols(), [&](Index begin, Index end) {
    for (Index i = 0; i < dy.rows(); ++i)
      for (Index c = begin; c < end; ++c) bias.gradient(0, rows[c]) += dy(i, c);
  });
}

}  // namespace

Var linear_rows(Tape& tape, Var x, const Parameter& weight, const Parameter* bias, std::span<const TokenId> rows,
                std::span<const Scalar> offsets) {
  check(x, weight, bias, rows, offsets);
  const auto count = static_cast<Index>(rows.size());
  const Index in = weight.cols;
  const std::span<const TokenId> kept = tape.keep(rows);
  Scalar* copies = tape.scratch<Scalar>(count * in);
  tape.for_rows(count, in, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) std::copy_n(weight.value.data() + kept[r] * in, in, copies + r * in);
  });
  Scalar* shifts = tape.scratch<Scalar>(count);
  for (Index r = 0; r < count; ++r) shifts[r] = offsets[r] + (bias ? bias->value(0, kept[r]) : 0);
  Var y = tape.variable(x.rows(), count, x.wants_gradient() || weight.wants_gradient());
  gemm(tape.pool(), x.value(), Op::none, ConstView(copies, count, in), Op::transpose, y.mutable_value(),
       {.bias = shifts});
  if (!y.wants_gradient()) return y;

  tape.record(y, [&tape, x, w = &weight, bias, kept, copies](ConstView dy) {
    // y = x W_rᵀ + b_r + c
    const Index count = dy.cols(), in = w->cols;
    if (x.wants_gradient()) {
      auto [dx, fresh] = tape.gradient(x);
      gemm(tape.pool(), dy, Op::none, ConstView(copies, count, in), Op::none, dx, {.accumulate = !fresh});
    }
    if (!w->wants_gradient()) return;
    View dw(copies, count, in);  // in the place of the copies, which nobody reads any more
    gemm(tape.pool(), dy, Op::transpose, x.value(), Op::none, dw);
    tape.for_rows(count, in, [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) w->gradient.row(kept[r]) += dw.row(r);
    });
    if (bias) add_bias_gradient(tape, *bias, kept, dy);
  });
  return y;
}

}  // namespace wasmformer
