#include "nn/layers.h"

#include "ops/attention.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"

namespace wasmformer {

Var Linear::operator()(Tape& tape, Var x) { return linear(tape, x, weight, &bias); }

Var LayerNorm::operator()(Tape& tape, Var x) { return layer_norm(tape, x, weight, bias, epsilon); }

Var MultiHeadAttention::operator()(Tape& tape, Var x, Var keys, Var values, std::span<const Span> query_spans,
                                   std::span<const Span> key_spans, bool causal,
                                   std::vector<Matrix>* probabilities,
                                   std::span<const std::int32_t> key_rows) {
  Var q = q_proj(tape, x);
  return out_proj(
      tape, attention(tape, q, keys, values, query_spans, key_spans,
                      {.heads = num_heads, .causal = causal, .dropout = dropout}, probabilities, key_rows));
}

Var FeedForward::operator()(Tape& tape, Var x) {
  return fc2(tape, linear(tape, x, fc1.weight, &fc1.bias, kind, dropout));
}

}  // namespace wasmformer
