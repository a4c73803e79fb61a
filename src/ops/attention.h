// Attention in several heads: softmax(scores) v, with scores q kᵀ / √d_k (Vaswani et al. 2017, equation 1 and
// section 3.2.2) or q kᵀ (Luong et al. 2015, section 3.1). Sentences are spans of packed rows, so a query
// sees the keys of its own sentence only. In plain loops: attention_reference.h.
#pragma once

#include <span>
#include <vector>

#include "autograd/tape.h"

namespace wasmformer {

struct AttentionOptions {
  Index heads = 1;
  bool causal = false;  // the last query sees all keys of its sentence, the one before all but one, ...
  double dropout = 0;   // of the probabilities
  bool scaled = true;   // scores are divided by √d_k
  // Where not null, gets one matrix per sentence, [heads · rows, columns].
  std::vector<Matrix>* probabilities = nullptr;
  // Where given, key j of sentence i is row key_rows[key_spans[i].begin + j] of k and v, so that beams share
  // rows of a cache. Not while recording.
  std::span<const std::int32_t> key_rows = {};
};

// q: [n, d]; k, v: [m, d]; query_spans[i] attends to key_spans[i]; key spans may repeat (beams share a
// source) unless recorded. Returns [n, d]. Throws Error when shapes, spans or rows do not fit, or a causal
// query would see no key.
Var attention(Tape& tape, Var q, Var k, Var v, std::span<const Span> query_spans, std::span<const Span> key_spans,
              const AttentionOptions& options);

}  // namespace wasmformer
