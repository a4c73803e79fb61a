// Layer normalisation (Ba et al. 2016) over the features of a token.
#pragma once

#include "autograd/parameter.h"
#include "autograd/tape.h"

namespace wasmformer {

// y = (x - mean) / sqrt(var + epsilon) * weight + bias with the biased variance. x: [n, d]; weight, bias: [1,
// d].
Var layer_norm(Tape& tape, Var x, Parameter& weight, Parameter& bias, double epsilon);

}  // namespace wasmformer
