// Attention in several heads: softmax(scores) v, the scores being q kᵀ / √d_k (Vaswani et al. 2017, equation
// 1 and section 3.2.2) or others. Sentences are spans of packed rows, so a query sees the keys of its own
// sentence only.
#pragma once

#include <span>
#include <vector>

#include "autograd/parameter.h"
#include "autograd/tape.h"

namespace wasmformer {

// The score of a query and a key of one head, of d_k features each.
enum class Scoring {
  scaled_dot,  // q·k / √d_k
  dot,         // q·k (Luong et al. 2015, section 3.1)
  additive,    // v·tanh(q + k) (Bahdanau et al. 2015, appendix A.1.2; q and k come projected)
  bilinear     // qᵀ W k (Luong et al. 2015, section 3.1, "general")
};

struct AttentionOptions {
  Index heads = 1;
  bool causal = false;  // the last query sees all keys of its sentence, the one before all but one, ...
  double dropout = 0;   // of the probabilities
  Scoring scoring = Scoring::scaled_dot;
  Parameter* score = nullptr;  // additive: v of every head, [1, d]; bilinear: W of every head, [d, d_k]
};

// q: [n, d]; k, v: [m, d]; query_spans[i] attends to key_spans[i]; key spans may repeat (beams share a
// source) where nothing is recorded. Returns [n, d]. `probabilities`, where not null, gets one [heads · rows,
// columns] matrix a sentence. Where `key_rows` are given, key j of sentence i is row
// key_rows[key_spans[i].begin + j] of k and v, so that beams share rows of a cache; nothing may be recorded
// then. Throws Error when shapes, spans or rows do not fit, or a causal query would see no key.
Var attention(Tape& tape, Var q, Var k, Var v, std::span<const Span> query_spans,
              std::span<const Span> key_spans, const AttentionOptions& options,
              std::vector<Matrix>* probabilities = nullptr, std::span<const std::int32_t> key_rows = {});

}  // namespace wasmformer
