#include "ops/add.h"

#include "ops/dropout.h"

namespace wasmformer {

Var add(Tape& tape, Var x, Var y, double dropout) {
  WASMFORMER_CHECK(x.rows() == y.rows() && x.cols() == y.cols(),
                   "[add] shapes " << shape(x) << " and " << shape(y) << " differ");
  const Index d = x.cols();
  const Dropout drop(tape, dropout);
  Var z = tape.variable(x.rows(), d, x.wants_gradient() || y.wants_gradient());
  tape.for_rows(x.rows(), d, [&](Index begin, Index end) {
    const Index first = begin * d, count = (end - begin) * d;
    const Scalar *xs = x.value().data() + first, *ys = y.value().data() + first;
    Scalar* zs = z.mutable_value().data() + first;
    if (drop)
      for (Index i = 0; i < count; ++i) zs[i] = xs[i] + ys[i] * drop(first + i);
    else
      for (Index i = 0; i < count; ++i) zs[i] = xs[i] + ys[i];
  });

  if (z.wants_gradient()) {
    tape.record(z, [&tape, x, y, drop](ConstView dz) {
      // z = x + y * mask
      if (x.wants_gradient()) tape.add_gradient(x, dz);
      if (!y.wants_gradient()) return;
      auto [dy, fresh] = tape.gradient(y);
      tape.for_rows(dz.rows(), dz.cols(), [&](Index begin, Index end) {
        const Index first = begin * dz.cols(), count = (end - begin) * dz.cols();
        const Scalar* g = dz.data() + first;
        Scalar* out = dy.data() + first;
        for (Index i = 0; i < count; ++i) {
          const Scalar v = drop ? g[i] * drop(first + i) : g[i];
          out[i] = fresh ? v : out[i] + v;
        }
      });
    });
  }
  return z;
}

}  // namespace wasmformer
