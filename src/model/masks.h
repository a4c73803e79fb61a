// Attention masks for interventions: tokens and heads that are switched off. Inference only.
#pragma once

#include <span>
#include <vector>

#include "model/config.h"
#include "nn/layers.h"

namespace wasmformer {

// Heads and source tokens that are switched off, in calls that record no gradients.
struct Masks {
  std::vector<AttentionHead> heads;       // sorted; what these give is 0
  std::vector<std::int32_t> source_rows;  // rows that attention may look at; empty: all
  Spans source_spans;                     // sentence i: rows of source_rows or, if that is empty, of the source
  // Target tokens see only earlier ones even in a model with causal=false, as when they are written step by step.
  bool later_tokens = false;

  // `source_spans`: packed sentences, masked[i]: positions in sentence i that no attention looks at, counted
  // from 0. Throws Error for heads or positions that do not exist, and if nothing of a sentence is left.
  Masks(const Config& config, std::vector<AttentionHead> heads, std::span<const Span> source_spans,
        std::span<const std::vector<Index>> masked);
  Masks() = default;
  // The masked heads of one attention; layers count from 0.
  std::span<const AttentionHead> heads_of(AttentionHead::Kind attention, std::size_t layer) const;
};

}  // namespace wasmformer
