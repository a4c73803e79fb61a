// Sampling of the next token: temperature, top-k and nucleus (Fan et al. 2018; Holtzman et al. 2020).
#pragma once

#include <span>

#include "ops/top_k.h"
#include "tasks/translate/translate_options.h"
#include "tensor/random.h"

namespace wasmformer {

// One of `choices`, the most probable tokens with their log-probabilities, best first: with a probability in
// proportion to p^(1 / temperature), among the first of them whose shares reach top_p. `weights`: room for as many as
// choices.
TokenScore sample(std::span<const TokenScore> choices, const Sampling& sampling, std::span<double> weights,
                  Random& random);

}  // namespace wasmformer
