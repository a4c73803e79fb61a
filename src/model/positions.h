// Positions that are computed, not learned (Vaswani et al. 2017, section 3.5), as the config chooses them.
#pragma once

#include <span>

#include "autograd/tape.h"
#include "model/config.h"

namespace wasmformer {

// The first rows of the table that is added to embeddings, [rows, d_model], or the angles of rotary positions, [rows,
// d_k]; without rows if positions are learned or no table.
Matrix computed_positions(const Config& config, Index rows);

// Positions as fractions: t / (T - 1) in all columns, [places, d], with T the size of the span's source sentence, or 2
// if that is 1. `places`: t of each row; sources[i] belongs to spans[i].
Var fraction_positions(Tape& tape, std::span<const Index> places, std::span<const Span> spans,
                       std::span<const Span> sources, Index d);

}  // namespace wasmformer
