// Token embeddings times √d_model plus positions, then dropout (Vaswani et al. 2017, sections 3.4, 3.5
// and 5.4).
#pragma once

#include <span>

#include "autograd/parameter.h"
#include "autograd/tape.h"

namespace wasmformer {

// ids: n tokens; at[i]: the place of token i in its sentence; table: [vocabulary, d]; positions: [max_length,
// d], constant or learned. Returns [n, d]. Throws Error for an id or a place outside the tables.
Var embedding(Tape& tape, std::span<const TokenId> ids, std::span<const Index> at, Parameter& table,
              Parameter& positions, double dropout);

// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(the same): [max_length, d].
Matrix sinusoidal_positions(Index max_length, Index d);

}  // namespace wasmformer
