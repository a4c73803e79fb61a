// Layer normalization (Ba et al. 2016) over the features of a token, alone and after a residual connection
// (Vaswani et al. 2017, section 5.4). In plain loops: layer_norm_reference.h.
#pragma once

#include "autograd/parameter.h"
#include "autograd/tape.h"

namespace wasmformer {

// y = (x - mean) / sqrt(var + epsilon) * weight + bias with the biased variance. x: [n, d]; weight, bias: [1,
// d].
Var layer_norm(Tape& tape, Var x, const Parameter& weight, const Parameter& bias, double epsilon);

struct ResidualNorm {
  Var sum;   // x + dropout(y), in the memory of y
  Var norm;  // its layer_norm
};

// One pass over each row. x, y: [n, d]; y must have no other readers. The gradients of both results pass
// through that of `norm`, so it must be used if `sum` is.
ResidualNorm residual_norm(Tape& tape, Var x, Var y, double dropout, const Parameter& weight, const Parameter& bias,
                           double epsilon);

}  // namespace wasmformer
