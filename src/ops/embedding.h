// Token embeddings, usually times √d_model, plus positions if there are any, then dropout (Vaswani et al. 2017,
// sections 3.4, 3.5 and 5.4).
#pragma once

#include <span>

#include "autograd/parameter.h"
#include "autograd/tape.h"

namespace wasmformer {

// ids: n tokens; at[i]: position of token i in its sentence; table: [vocabulary, d]; positions: [max_length,
// d], constant or learned, or null; scaled: rows of the table are multiplied by √d. Returns [n, d]. Throws Error for
// an id or position outside the tables.
Var embedding(Tape& tape, std::span<const TokenId> ids, std::span<const Index> at, const Parameter& table,
              const Parameter* positions, double dropout, bool scaled = true);

// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(the same): [max_length, d].
Matrix sinusoidal_positions(Index max_length, Index d);

// PE(pos, i) = sin(pos / 10000^(i/steps)), PE(pos, d/2 + i) = cos(the same): [max_length, d]. Hugging Face's
// Marian has d/2 steps, the paper's frequencies; Marian itself d/2 - 1, so that the last is 1/10000.
Matrix sinusoidal_halves(Index max_length, Index d, Index steps);

}  // namespace wasmformer
