// Products of each head with a matrix of its own: with dot-product attention after it, scores are qᵀ W k
// (Luong et al. 2015, section 3.1, "general").
#pragma once

#include "autograd/parameter.h"
#include "autograd/tape.h"

namespace wasmformer {

// x: [n, d]; w: the matrices of the heads below each other, [d, d / heads]. Returns [n, d], where head h, its
// columns of x, is multiplied by its rows of w. Throws Error when the shapes do not fit.
Var head_product(Tape& tape, Var x, const Parameter& w, Index heads);

}  // namespace wasmformer
