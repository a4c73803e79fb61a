// Text to train on, made from sentence pairs.
#pragma once

#include "schema/options.h"
#include "tasks/translate/corpus.h"
#include "wasmformer/training.h"

namespace wasmformer {

// Repeats the text `weight` times; the fractional part selects evenly spaced pairs.
ParallelText weighted(const ParallelText& text, double weight);

// The text, then as many changed copies of its pairs as the shares say, or fewer where few pairs can be changed so.
// Deterministic for a seed.
ParallelText augmented(ParallelText text, const Augmentation& shares, std::uint64_t seed);

}  // namespace wasmformer
