#include "ops/head_product.h"

namespace wasmformer {

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
    tape.record(y, [&tape, x, w = &w, n, d, d_k](ConstView dy) {
      // y_h = x_h W_h
      if (x.wants_gradient()) {
        View dx = tape.zeroed_gradient(x);
        tape.for_rows(n, d * d_k, [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i)
            for (Index a = 0; a < d; ++a) dx(i, a) += dy.row(i).segment(a / d_k * d_k, d_k).dot(w->value.row(a));
        });
      }
      if (!w->wants_gradient()) return;
      tape.for_columns(d, [&](Index begin, Index end) {
        for (Index i = 0; i < n; ++i)
          for (Index a = begin; a < end; ++a)
            w->gradient.row(a) += x.value()(i, a) * dy.row(i).segment(a / d_k * d_k, d_k);
      });
    });
  }
  return y;
}

}  // namespace wasmformer
