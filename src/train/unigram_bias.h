// The output biases that a new model begins with (Meister et al. 2023, "A Natural Bias for Language Generation
// Models").
#pragma once

#include "model/transformer.h"

namespace wasmformer {

// Sets them to the logarithms of the shares that pieces have in `counts`, one count for each piece of the target
// vocabulary, of which one must not be 0: a model without anything else then predicts each piece as often as it occurs.
// A piece that never occurs counts as half of one. Throws Error for a model without output biases.
void begin_at_unigrams(Transformer& transformer, std::span<const Index> counts);

// Throws Error if such a model has no output biases.
void check_output_biases(const Config& config);

}  // namespace wasmformer
