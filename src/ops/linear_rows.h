// y = x W_rᵀ + b_r + c for some rows r of a weight: an output layer that scores some tokens of a large vocabulary
// (Jean et al. 2015, "On Using Very Large Target Vocabulary for Neural Machine Translation", section 3).
#pragma once

#include <span>

#include "autograd/parameter.h"
#include "autograd/tape.h"

namespace wasmformer {

// x: [n, in], weight: [out, in], bias: [1, out] or null, rows: k different ones below out, offsets: k constants c;
// returns [n, k]. Only these rows of the gradients of weight and bias change. Throws Error if the shapes do not fit,
// for a row that is not there, and for int8 weights.
Var linear_rows(Tape& tape, Var x, const Parameter& weight, const Parameter* bias, std::span<const TokenId> rows,
                std::span<const Scalar> offsets);

}  // namespace wasmformer
