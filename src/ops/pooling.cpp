#include "ops/pooling.h"

namespace wasmformer {

Var rows_at(Tape& tape, Var x, std::span<const Index> at) {
  const auto n = static_cast<Index>(at.size());
  for (Index row : at)
    WASMFORMER_CHECK(row >= 0 && row < x.rows(), ErrorCode::rows_at, "row " << row << " is not below " << x.rows());
  Var y = tape.variable(n, x.cols(), x.wants_gradient());
  for (Index i = 0; i < n; ++i) y.mutable_value().row(i) = x.value().row(at[i]);
  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, kept = tape.keep(at), n](ConstView upstream) {
      View gradient = tape.zeroed_gradient(x);
      for (Index i = 0; i < n; ++i) gradient.row(kept[i]) += upstream.row(i);
    });
  }
  return y;
}

Var mean_rows(Tape& tape, Var x, std::span<const Span> spans) {
  const auto n = static_cast<Index>(spans.size());
  Var y = tape.variable(n, x.cols(), x.wants_gradient());
  for (Index i = 0; i < n; ++i) {
    WASMFORMER_CHECK(spans[i].size > 0 && spans[i].begin >= 0 && spans[i].end() <= x.rows(), ErrorCode::mean_rows,
                     "the span of " << spans[i].size << " rows at " << spans[i].begin << " is empty or not within "
                                    << x.rows() << " rows");
    y.mutable_value().row(i) = x.value().middleRows(spans[i].begin, spans[i].size).colwise().mean();
  }
  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, kept = tape.keep(spans), n](ConstView upstream) {
      View gradient = tape.zeroed_gradient(x);
      for (Index i = 0; i < n; ++i)
        gradient.middleRows(kept[i].begin, kept[i].size).rowwise() +=
            upstream.row(i) / static_cast<Scalar>(kept[i].size);
    });
  }
  return y;
}

}  // namespace wasmformer
