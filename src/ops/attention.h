// Attention in several heads: softmax(scores) v, with scores q kᵀ / √d_k (Vaswani et al. 2017, equation 1 and
// section 3.2.2) or q kᵀ (Luong et al. 2015, section 3.1). Sentences are spans of packed rows, so a query
// sees the keys of its own sentence only. In plain loops: attention_reference.h.
#pragma once

#include <span>

#include "autograd/tape.h"
#include "ops/attention_options.h"

namespace wasmformer {

// q: [n, heads · d_k]; k: [m, heads · d_k]; v: [m, heads · d_v]; query_spans[i] attends to key_spans[i]; key spans may
// repeat (beams share a source) unless recorded. Returns [n, heads · d_v]. Throws Error when shapes, spans or rows do
// not fit, or a causal query would see no key.
Var attention(Tape& tape, Var q, Var k, Var v, std::span<const Span> query_spans, std::span<const Span> key_spans,
              const AttentionOptions& options);

}  // namespace wasmformer
