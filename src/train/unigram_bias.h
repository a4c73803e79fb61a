// The output biases that a new model begins with (Meister et al. 2023, "A Natural Bias for Language Generation
// Models").
#pragma once

#include "model/transformer.h"

namespace wasmformer {

// Sets each output bias to the logarithm of the piece's share of all `counts`, so that a model whose other weights are
// 0 predicts each piece as often as it occurs. `counts` has one number for each piece of the target vocabulary, not all
// 0; a count of 0 is taken as 0.5. Throws Error for a model without output biases.
void begin_at_unigrams(Transformer& transformer, std::span<const Index> counts);

// Throws Error if a model with this configuration has no output biases.
void check_output_biases(const Config& config);

}  // namespace wasmformer
