#include "ops/head_product.h"

namespace wasmformer {
namespace {

// y_h = x_h W_h, where feature a of x belongs to the head whose features begin at first_of(a), and meets row a of W.
Index first_of(Index a, Index d_k) { return a / d_k * d_k; }

void add_input_gradient(Tape& tape, const Parameter& w, ConstView dy, View dx) {
  const Index d = dy.cols(), d_k = w.cols;
  tape.for_rows(dy.rows(), d * d_k, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index a = 0; a < d; ++a) dx(i, a) += dy.row(i).segment(first_of(a, d_k), d_k).dot(w.value.row(a));
  });
}

void add_weight_gradient(Tape& tape, ConstView x, ConstView dy, const Parameter& w) {
  const Index d_k = w.cols;
  tape.for_columns(dy.cols(), [&](Index begin, Index end) {
    for (Index i = 0; i < dy.rows(); ++i)
      for (Index a = begin; a < end; ++a) w.gradient.row(a) += x(i, a) * dy.row(i).segment(first_of(a, d_k), d_k);
  });
}

}  // namespace

Var head_product(Tape& tape, Var x, const Parameter& w, Index heads) {
  const Index n = x.rows(), d = x.cols(), d_k = w.cols;
  WASMFORMER_CHECK(w.rows == d && d_k * heads == d, ErrorCode::head_product,
                   heads << " heads of " << shape(x) << " and weights [" << w.rows << ", " << d_k << "] do not fit");
  Var y = tape.variable(n, d, x.wants_gradient() || w.wants_gradient());
  tape.for_rows(n, d * d_k, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      for (Index h = 0; h < d; h += d_k) {
        auto out = y.mutable_value().row(i).segment(h, d_k);
        out.setZero();
        for (Index a = h; a < h + d_k; ++a) out += x.value()(i, a) * w.value.row(a);
      }
    }
  });

  if (y.wants_gradient()) {
    tape.record(y, [&tape, x, w = &w](ConstView dy) {
      if (x.wants_gradient()) add_input_gradient(tape, *w, dy, tape.zeroed_gradient(x));
      if (w->wants_gradient()) add_weight_gradient(tape, x.value(), dy, *w);
    });
  }
  return y;
}

}  // namespace wasmformer
