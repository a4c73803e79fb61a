// A variable with several uses: the plainest operation, for tests of others.
#pragma once

#include "autograd/tape.h"

namespace wasmformer {

inline Var sum(Tape& tape, Var x, Var y) {
  Var z = tape.variable(x.rows(), x.cols(), x.wants_gradient() || y.wants_gradient());
  z.mutable_value() = x.value() + y.value();
  if (z.wants_gradient()) {
    tape.record(z, [&tape, x, y](ConstView dz) {
      for (Var var : {x, y})
        if (var.wants_gradient()) tape.add_gradient(var, dz);
    });
  }
  return z;
}

}  // namespace wasmformer
