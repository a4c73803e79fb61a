// The non-linearity of the feed-forward sublayer: ReLU (Vaswani et al. 2017, equation 2), GELU (Hendrycks and
// Gimpel 2016, with erf) or swish (Ramachandran et al. 2017); and tanh, for poolers.
#pragma once

#include "tensor/matrix.h"

namespace wasmformer {

enum class Activation { relu, gelu, swish, tanh };

// For a row of n: x becomes f(x); dx becomes dx f'(x).
void activate(Activation kind, Scalar* x, Index n);
void activate_backward(Activation kind, const Scalar* x, Scalar* dx, Index n);

}  // namespace wasmformer
