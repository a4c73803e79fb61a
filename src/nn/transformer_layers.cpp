#include "nn/transformer_layers.h"

namespace wasmformer {
namespace {

AttentionRecord* next_self_attention(StackRecord* record) {
  return record ? &record->self_attention.emplace_back() : nullptr;
}

AttentionRecord* next_cross_attention(StackRecord* record) {
  return record ? &record->cross_attention.emplace_back() : nullptr;
}

Var* next_hidden(StackRecord* record) { return record ? &record->hidden.emplace_back() : nullptr; }

MultiHeadAttention attention_of(const LayerOptions& o) {
  return MultiHeadAttention({.d_model = o.d_model, .heads = o.num_heads, .key_dim = o.key_dim, .kind = o.attention},
                            o.attention_dropout);
}

std::variant<MultiHeadAttention, RecurrentUnit> decoder_self(const LayerOptions& o) {
  if (o.decoder_self == DecoderSelf::ssru) return RecurrentUnit(o.d_model);
  return attention_of(o);
}

// Writes the rows of the new tokens into the cache; returns all its rows.
Var cached(Tape& tape, Var fresh, Matrix& rows, const DecoderCall& call) {
  for (std::size_t i = 0; i < call.spans.size(); ++i) {
    const Span span = call.spans[i];
    const Index first = call.key_spans[i].end() - span.size;  // the new tokens are the last of their sentence
    for (Index j = 0; j < span.size; ++j) rows.row(call.key_rows[first + j]) = fresh.value().row(span.begin + j);
  }
  return tape.constant(rows);
}

}  // namespace

LayerBase::LayerBase(const LayerOptions& o)
    : self_attn_layer_norm(o.d_model, o.norm_epsilon),
      ffn(o.d_model, o.ffn_dim, o.activation, o.activation_dropout),
      final_layer_norm(o.d_model, o.norm_epsilon),
      add_and_norm(o.norm, o.residual, o.dropout) {}

ResidualStream LayerBase::feed_forward(Tape& tape, ResidualStream x) const {
  StackRecord* record = x.record;
  return add_and_norm(tape, x, final_layer_norm, [&](Var h) { return ffn(tape, h, next_hidden(record)); });
}

EncoderLayer::EncoderLayer(const LayerOptions& o) : LayerBase(o), self_attn(attention_of(o)) {}

ResidualStream EncoderLayer::operator()(Tape& tape, ResidualStream x, const EncoderCall& call) const {
  StackRecord* record = x.record;
  x = add_and_norm(tape, x, self_attn_layer_norm, [&](Var h) {
    return self_attn(tape, h, self_attn.keys(tape, h, call.rotation), self_attn.v_proj(tape, h),
                     {.query_spans = call.spans,
                      .key_spans = call.key_spans,
                      .key_rows = call.key_rows,
                      .causal = false,
                      .masked_heads = call.masked_heads,
                      .record = next_self_attention(record),
                      .rotation = call.rotation});
  });
  return feed_forward(tape, x);
}

DecoderLayer::DecoderLayer(const LayerOptions& o)
    : LayerBase(o),
      self(decoder_self(o)),
      encoder_attn(attention_of(o)),
      encoder_attn_layer_norm(o.d_model, o.norm_epsilon) {}

ResidualStream DecoderLayer::operator()(Tape& tape, ResidualStream x, const DecoderCall& call) const {
  StackRecord* record = x.record;
  x = add_and_norm(tape, x, self_attn_layer_norm, [&](Var h) { return see_target(tape, h, call, record); });
  x = add_and_norm(tape, x, encoder_attn_layer_norm, [&](Var h) { return see_source(tape, h, call, record); });
  return feed_forward(tape, x);
}

Var DecoderLayer::see_target(Tape& tape, Var h, const DecoderCall& call, StackRecord* record) const {
  if (const auto* cell = std::get_if<RecurrentUnit>(&self)) {
    if (!call.cache) return (*cell)(tape, h, call.spans, /*kept=*/nullptr);
    const CachedCells cells{&call.cache->keys, call.key_spans, call.key_rows};
    return (*cell)(tape, h, call.spans, &cells);
  }
  const auto& attention = std::get<MultiHeadAttention>(self);
  Var k = attention.keys(tape, h, call.rotation);
  Var v = attention.v_proj(tape, h);
  if (call.cache) {
    k = cached(tape, k, call.cache->keys, call);
    v = cached(tape, v, call.cache->values, call);
  }
  return attention(tape, h, k, v,
                   {.query_spans = call.spans,
                    .key_spans = call.key_spans,
                    .key_rows = call.key_rows,
                    .causal = call.causal,
                    .masked_heads = call.masked_heads,
                    .record = next_self_attention(record),
                    .rotation = call.rotation});
}

Var DecoderLayer::see_source(Tape& tape, Var h, const DecoderCall& call, StackRecord* record) const {
  const bool is_kept = call.cache && call.cache->cross_keys.size() > 0;
  const Var k = is_kept ? tape.constant(call.cache->cross_keys) : encoder_attn.k_proj(tape, call.memory);
  const Var v = is_kept ? tape.constant(call.cache->cross_values) : encoder_attn.v_proj(tape, call.memory);
  if (call.cache && !is_kept) {
    call.cache->cross_keys = k.value();
    call.cache->cross_values = v.value();
  }
  return encoder_attn(tape, h, k, v,
                      {.query_spans = call.spans,
                       .key_spans = call.memory_spans,
                       .key_rows = call.memory_rows,
                       .causal = false,
                       .masked_heads = call.masked_cross_heads,
                       .record = next_cross_attention(record)});
}

}  // namespace wasmformer
