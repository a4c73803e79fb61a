#include "ops/residual_sum.h"

#include "ops/dropout.h"

namespace wasmformer {
namespace {

// to += from * mask, row by row.
void add_masked(Tape& tape, ConstView from, View to, const Dropout& mask) {
  const Index d = from.cols();
  tape.for_rows(from.rows(), d, [&](Index begin, Index end) {
    RowVector row(d);
    for (Index i = begin; i < end; ++i) {
      row = from.row(i);
      mask.apply(row.data(), i * d, d);
      to.row(i) += row;
    }
  });
}

}  // namespace

Var residual_sum(Tape& tape, std::optional<Var> x, Var y, double dropout) {
  WASMFORMER_CHECK(!x || (x->rows() == y.rows() && x->cols() == y.cols()), ErrorCode::residual_norm,
                   "shapes " << shape(*x) << " and " << shape(y) << " differ");
  const Dropout mask(tape, dropout, y.cols());
  Var sum = tape.variable(y.rows(), y.cols(), y.wants_gradient() || (x && x->wants_gradient()));
  if (x)
    sum.mutable_value() = x->value();
  else
    sum.mutable_value().setZero();
  add_masked(tape, y.value(), sum.mutable_value(), mask);

  if (sum.wants_gradient()) {
    tape.record(sum, [&tape, x, y, mask](ConstView dsum) {
      // sum = x + y * mask
      if (x && x->wants_gradient()) tape.add_gradient(*x, dsum);
      if (y.wants_gradient()) add_masked(tape, dsum, tape.zeroed_gradient(y), mask);
    });
  }
  return sum;
}

}  // namespace wasmformer
