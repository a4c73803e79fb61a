// Attention with each of its scores, as nn/layers.cpp puts it together, and what the scores learn, at random.
#pragma once

#include "nn/layers.h"
#include "ops/additive_attention.h"
#include "ops/head_product.h"
#include "tests/ops/random_matrix.h"

namespace wasmformer {

// Of d features in all; without rows where the scores learn nothing.
inline Parameter random_score(AttentionScore kind, Index d, Index heads, std::uint64_t seed) {
  if (kind != AttentionScore::additive && kind != AttentionScore::bilinear) return {};
  const Index rows = kind == AttentionScore::additive ? 1 : d, cols = kind == AttentionScore::additive ? d : d / heads;
  return {random_matrix(rows, cols, seed), Matrix::Zero(rows, cols)};
}

inline Var attend(Tape& tape, AttentionScore kind, Parameter& score, Var q, Var k, Var v, const Spans& query_spans,
                  const Spans& key_spans, AttentionOptions options) {
  if (kind == AttentionScore::additive)
    return additive_attention(tape, q, k, v, score, query_spans, key_spans, options);
  options.scaled = kind == AttentionScore::scaled_dot;
  if (kind == AttentionScore::bilinear) q = head_product(tape, q, score, options.heads);
  return attention(tape, q, k, v, query_spans, key_spans, options);
}

}  // namespace wasmformer
