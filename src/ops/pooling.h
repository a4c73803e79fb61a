// Input of an encoder's head from its tokens: some rows, or the mean of each sentence.
#pragma once

#include <span>

#include "autograd/tape.h"

namespace wasmformer {

// x: [n, d]; at: rows of x, which may repeat. Returns [at, d]. Throws Error for a row outside x.
Var rows_at(Tape& tape, Var x, std::span<const Index> at);

// x: [n, d]. Returns [spans, d], the mean of the rows of each span. Throws Error for an empty span.
Var mean_rows(Tape& tape, Var x, std::span<const Span> spans);

}  // namespace wasmformer
