// Attention whose scores are w·tanh(q + k), with q and k projected before (Bahdanau et al. 2015, appendix
// A.1.2).
#pragma once

#include "autograd/parameter.h"
#include "autograd/tape.h"
#include "ops/attention_options.h"

namespace wasmformer {

// As attention(); w: of every head side by side, [1, d], as wide as q. There is no scale.
Var additive_attention(Tape& tape, Var q, Var k, Var v, const Parameter& w, std::span<const Span> query_spans,
                       std::span<const Span> key_spans, const AttentionOptions& options);

}  // namespace wasmformer
