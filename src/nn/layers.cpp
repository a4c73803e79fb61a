#include "nn/layers.h"

#include "ops/additive_attention.h"
#include "ops/head_product.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/windows.h"

namespace wasmformer {

Var Linear::operator()(Tape& tape, Var x) const { return linear(tape, x, weight, &bias); }

Var Convolution::operator()(Tape& tape, Var x, std::span<const Span> spans) const {
  return linear(tape, windows(tape, x, spans, width), weight, &bias, Activation::relu, /*dropout=*/0);
}

Var LayerNorm::operator()(Tape& tape, Var x) const { return layer_norm(tape, x, weight, bias, epsilon); }

Var MultiHeadAttention::operator()(Tape& tape, Var x, Var keys, Var values, const AttentionCall& call) const {
  Var q = rotary(tape, q_proj(tape, x), call.rotation, num_heads);
  const AttentionOptions options{.heads = num_heads,
                                 .causal = call.causal,
                                 .dropout = dropout,
                                 .scaled = kind == AttentionScore::scaled_dot,
                                 .probabilities = call.record ? &call.record->probabilities : nullptr,
                                 .key_rows = call.key_rows};
  Var heads;
  if (kind == AttentionScore::additive)
    heads = additive_attention(tape, q, keys, values, score, call.query_spans, call.key_spans, options);
  else
    heads = attention(tape, kind == AttentionScore::bilinear ? head_product(tape, q, score, num_heads) : q, keys,
                      values, call.query_spans, call.key_spans, options);
  WASMFORMER_CHECK(call.masked_heads.empty() || !heads.wants_gradient(), ErrorCode::attention,
                   "masked heads cannot be recorded");
  for (const AttentionHead& masked : call.masked_heads) {
    const Index d_v = heads.cols() / num_heads;
    heads.mutable_value().middleCols(masked.head * d_v, d_v).setZero();
  }
  if (call.record) {
    AttentionRecord& r = *call.record;
    r.queries = q;
    r.keys = keys;
    r.values = values;
    r.output = heads;
  }
  return out_proj(tape, heads);
}

Var FeedForward::operator()(Tape& tape, Var x, Var* hidden) const {
  const Var inner = linear(tape, x, fc1.weight, &fc1.bias, kind, dropout);
  if (hidden) *hidden = inner;
  return fc2(tape, inner);
}

Var RecurrentUnit::operator()(Tape& tape, Var x, std::span<const Span> spans, const CachedCells* kept) const {
  return ssru(tape, linear(tape, x, input, /*bias=*/nullptr), forget_gate(tape, x), spans, kept);
}

}  // namespace wasmformer
