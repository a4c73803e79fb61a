#include "ops/linear.h"

#include "gemm/gemm.h"
#include "ops/dropout.h"

namespace wasmformer {
namespace {

void check(Var x, const Parameter& weight, const Parameter* bias) {
  WASMFORMER_CHECK(
      x.cols() == weight.cols, ErrorCode::linear,
      "input " << shape(x) << " and weight [" << weight.rows << ", " << weight.cols << "] differ in columns");
  WASMFORMER_CHECK(!bias || bias->cols == weight.rows, ErrorCode::linear,
                   "bias [1, " << bias->cols << "] does not fit weight [" << weight.rows << ", " << weight.cols << "]");
}

// out = x Wᵀ + b, for these rows of x
void forward(Tape& tape, Var x, Span rows, const Parameter& weight, GemmOptions options, View out, bool recorded) {
  const ConstView in(x.value().data() + rows.begin * x.cols(), rows.size, x.cols());
  tape.show(weight, in);
  if (weight.is_packed() && !recorded) {
    if (weight.packed.format() == PackedMatrix::Format::int8)
      gemm(tape.pool(), tape.quantized(x, weight.packed).part(rows), weight.packed, out, options);
    else
      gemm(tape.pool(), in, weight.packed, out, options);
    return;
  }
  WASMFORMER_CHECK(weight.has_value(), ErrorCode::linear, "int8 weights have no gradient; train the float model");
  gemm(tape.pool(), in, Op::none, weight.view(), Op::transpose, out, options);
}

const Scalar* values(const Parameter* bias) { return bias ? bias->value.data() : nullptr; }

void backward(Tape& tape, Var x, const Parameter& weight, const Parameter* bias, ConstView dy) {
  // y = x Wᵀ + b
  if (x.wants_gradient()) {
    auto [dx, fresh] = tape.gradient(x);
    gemm(tape.pool(), dy, Op::none, weight.view(), Op::none, dx, {.accumulate = !fresh});
  }
  if (!weight.wants_gradient()) return;
  gemm(tape.pool(), dy, Op::transpose, x.value(), Op::none, weight.gradient_view(), {.accumulate = true});
  if (!bias) return;
  // Row by row: down the columns, each row of a wide dy would be another page of memory.
  tape.pool().parallel_for(dy.cols(), 1024, [&](Index begin, Index end) {
    for (Index i = 0; i < dy.rows(); ++i)
      bias->gradient.middleCols(begin, end - begin) += dy.row(i).middleCols(begin, end - begin);
  });
}

}  // namespace

Var linear(Tape& tape, Var x, const Parameter& weight, const Parameter* bias) {
  check(x, weight, bias);
  Var y = tape.variable(x.rows(), weight.rows, x.wants_gradient() || weight.wants_gradient());
  forward(tape, x, {0, x.rows()}, weight, {.bias = values(bias)}, y.mutable_value(), y.wants_gradient());
  if (y.wants_gradient())
    tape.record(y, [&tape, x, w = &weight, bias](ConstView dy) { backward(tape, x, *w, bias, dy); });
  return y;
}

Var linear(Tape& tape, Var x, Span rows, const Parameter& weight, const Parameter* bias) {
  check(x, weight, bias);
  Var y = tape.variable(rows.size, weight.rows, /*wants_gradient=*/false);
  forward(tape, x, rows, weight, {.bias = values(bias)}, y.mutable_value(), /*recorded=*/false);
  return y;
}

Var linear(Tape& tape, Var x, const Parameter& weight, const Parameter* bias, Activation kind, double dropout) {
  check(x, weight, bias);
  const Dropout drop(tape, dropout, weight.rows);
  Var y = tape.variable(x.rows(), weight.rows, x.wants_gradient() || weight.wants_gradient());
  // f' of ReLU follows from y; for the others the input is kept.
  const bool keep = y.wants_gradient() && kind != Activation::relu;
  const Index cols = y.cols();
  Scalar* out = y.mutable_value().data();
  Scalar* before = keep ? tape.scratch<Scalar>(y.rows() * cols) : out;
  const auto finish = [&](Index row, Index rows, Index column, Index columns) {
    for (Index i = row; i < row + rows; ++i) {
      const Index at = i * cols + column;
      if (keep) std::copy_n(before + at, columns, out + at);
      activate(kind, out + at, columns);
      drop.apply(out + at, at, columns);
    }
  };
  forward(tape, x, {0, x.rows()}, weight, {.bias = values(bias), .finish = finish}, View(before, y.rows(), cols),
          y.wants_gradient());

  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, y, w = &weight, bias, kind, drop, before](ConstView) {
      // y = f(x Wᵀ + b) * mask; its gradient is overwritten by that of f's input
      View d = tape.gradient(y).view;
      tape.for_rows(d.rows(), d.cols(), [&](Index begin, Index end) {
        const Index first = begin * d.cols(), count = (end - begin) * d.cols();
        drop.apply(d.data() + first, first, count);
        activate_backward(kind, before + first, d.data() + first, count);
      });
      backward(tape, x, *w, bias, ConstView(d.data(), d.rows(), d.cols()));
    });
  }
  return y;
}

}  // namespace wasmformer
