// The residual connection without a norm: x + dropout(y) (Vaswani et al. 2017, sections 3.1 and 5.4), or dropout(y)
// alone. With a norm after the sum, layer_norm.h computes both in one pass.
#pragma once

#include <optional>

#include "autograd/tape.h"

namespace wasmformer {

// x + dropout(y), or, without x, dropout(y). x, y: [n, d]; returns [n, d]. Throws Error when shapes differ.
Var residual_sum(Tape& tape, std::optional<Var> x, Var y, double dropout);

}  // namespace wasmformer
