// The non-linearity of the feed-forward sublayer: ReLU (Vaswani et al. 2017, equation 2), GELU (Hendrycks and
// Gimpel 2016, with erf) or swish (Ramachandran et al. 2017), then dropout.
#pragma once

#include "autograd/tape.h"

namespace wasmformer {

enum class Activation { relu, gelu, swish };

// Element by element; any shape.
Var activation(Tape& tape, Var x, Activation kind, double dropout);

}  // namespace wasmformer
