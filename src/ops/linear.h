// y = x Wᵀ + b (Vaswani et al. 2017, the projections of section 3.2.2), and y = f(x Wᵀ + b), the first half
// of equation 2.
#pragma once

#include "autograd/parameter.h"
#include "autograd/tape.h"
#include "ops/activation.h"

namespace wasmformer {

// x: [n, in], weight: [out, in], bias: [1, out] or null; returns [n, out]. With int8 weights x is
// quantized too. Throws Error if the shapes do not fit, or if int8 weights would be recorded.
Var linear(Tape& tape, Var x, const Parameter& weight, const Parameter* bias);

// Computes y for these rows of x alone; returns [rows.size, out]. Not recorded.
Var linear(Tape& tape, Var x, Span rows, const Parameter& weight, const Parameter* bias);

// dropout(f(x Wᵀ + b)).
Var linear(Tape& tape, Var x, const Parameter& weight, const Parameter* bias, Activation kind, double dropout);

}  // namespace wasmformer
