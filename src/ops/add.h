// The residual connection around a sublayer, whose output passes dropout first (Vaswani et al. 2017,
// section 5.4).
#pragma once

#include "autograd/tape.h"

namespace wasmformer {

// x + dropout(y), both [n, d].
Var add(Tape& tape, Var x, Var y, double dropout);

}  // namespace wasmformer
