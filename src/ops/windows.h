// The input of a convolution over the tokens of each sentence: neighboring rows beside each other.
#pragma once

#include <span>

#include "autograd/tape.h"

namespace wasmformer {

// x: [n, d], the tokens of packed sentences; returns [n, width · d]. Row t is x_{t-r} ... x_{t+r} one after the other,
// with r = (width - 1) / 2, and zeros in place of rows outside the sentence. `width` is odd.
Var windows(Tape& tape, Var x, std::span<const Span> spans, Index width);

}  // namespace wasmformer
