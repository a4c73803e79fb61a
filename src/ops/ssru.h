// The simpler simple recurrent unit in place of the decoder's self-attention (Kim et al. 2019, "From Research to
// Production and Back", section 3.1): c_t = f_t ⊙ c_{t-1} + (1 - f_t) ⊙ u_t with f = σ(gate), and c = 0 before the
// start. In plain loops: ssru_reference.h.
#pragma once

#include <span>

#include "autograd/tape.h"
#include "tensor/matrix.h"

namespace wasmformer {

// Cache of cell states during decoding: token j of sentence i is in row rows[sentences[i].begin + j], new tokens last.
struct CachedCells {
  Matrix* cells;  // [any, d]
  std::span<const Span> sentences;
  std::span<const std::int32_t> rows;
};

// u, gate: [n, d], the tokens of packed sentences; returns relu(c), [n, d]. With `kept`, sentence i continues from
// its last cell there and stores its new ones.
Var ssru(Tape& tape, Var u, Var gate, std::span<const Span> spans, const CachedCells* kept = nullptr);

}  // namespace wasmformer
