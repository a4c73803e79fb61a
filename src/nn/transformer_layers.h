// The layers of figure 1 (Vaswani et al. 2017), with pre-norm as well: EncoderLayer is its left block, DecoderLayer its
// right one.
#pragma once

#include <span>
#include <variant>

#include "nn/layers.h"
#include "nn/residual.h"

namespace wasmformer {

// The part that lets a target token see the earlier ones: masked self-attention (section 3.2.3), or a recurrent cell
// (ops/ssru.h).
enum class DecoderSelf { attention, ssru };

// Sizes and kinds of a layer; rates of dropout are shares.
struct LayerOptions {
  Index d_model, num_heads, key_dim, ffn_dim;
  AttentionScore attention;
  Activation activation;
  DecoderSelf decoder_self;
  NormPosition norm;
  bool residual;
  double norm_epsilon, dropout, attention_dropout, activation_dropout;
};

// Arguments of an encoder layer. Spans and rows as in ops/attention.h.
struct EncoderCall {
  std::span<const Span> spans;                  // packed sentences
  std::span<const Span> key_spans;              // keys that each may see: the same or, with key_rows, spans of these
  std::span<const std::int32_t> key_rows;       // the tokens that attention may look at; empty: all
  Rotation rotation;                            // applied to queries and keys
  std::span<const AttentionHead> masked_heads;  // heads of this layer
};

// Parts of encoder and decoder layers alike: a norm for the first sublayer, and the feed-forward network as the last.
struct LayerBase {
  LayerNorm self_attn_layer_norm;
  FeedForward ffn;
  LayerNorm final_layer_norm;
  AddAndNorm add_and_norm;

  explicit LayerBase(const LayerOptions& options);
  // The stream after the last sublayer.
  ResidualStream feed_forward(Tape& tape, ResidualStream stream) const;

  template <class Self, class Visitor>
  static void visit_feed_forward(Self& self, const ParameterScope& layer, Visitor&& v) {
    const ParameterScope scope = layer.in(Module::feed_forward);
    FeedForward::visit(self.ffn, scope, v);
    visit_norm(self, self.final_layer_norm, scope.under(".final_layer_norm"), v);
  }
  // The parameters of a norm, if the layer has norms.
  template <class Self, class Norm, class Visitor>
  static void visit_norm(Self& self, Norm& norm, const ParameterScope& scope, Visitor&& v) {
    if (self.add_and_norm.position != NormPosition::none) LayerNorm::visit(norm, scope, v);
  }
};

// Sections 3.1 and 3.2.3: self-attention, then the feed-forward network of equation 2.
struct EncoderLayer : LayerBase {
  MultiHeadAttention self_attn;

  explicit EncoderLayer(const LayerOptions& options);
  // The stream, [tokens, d_model], after this layer.
  ResidualStream operator()(Tape& tape, ResidualStream stream, const EncoderCall& call) const;

  template <class Self, class Visitor>
  static void visit(Self& self, const ParameterScope& scope, Visitor&& v) {
    const ParameterScope attention = scope.in(Module::self_attention);
    MultiHeadAttention::visit(self.self_attn, attention.under(".self_attn"), v);
    visit_norm(self, self.self_attn_layer_norm, attention.under(".self_attn_layer_norm"), v);
    visit_feed_forward(self, scope, v);
  }
};

// Keys and values of a layer that decoding keeps.
struct LayerCache {
  // Projected, [rows, heads · key_dim] and [rows, d_model]; of a recurrent layer the cells, [rows, d_model], and
  // nothing.
  Matrix keys, values;
  Matrix cross_keys, cross_values;  // likewise of the memory's rows, projected once by the first step
};

// Arguments of a decoder layer. Spans and rows as in ops/attention.h.
struct DecoderCall {
  std::span<const Span> spans;      // packed target tokens; with a cache, those after the ones in it
  std::span<const Span> key_spans;  // the same or, with a cache, spans of key_rows, which end with the new tokens
  std::span<const std::int32_t> key_rows;  // rows of the cache
  bool causal;                             // a token of `spans` does not see those after it
  Rotation rotation;                       // applied to queries and keys of self-attention
  Var memory;                              // [memory rows, d_model]; not read when the cache has its projections
  std::span<const Span> memory_spans;
  std::span<const std::int32_t> memory_rows;                        // rows that attention may look at; empty: all
  std::span<const AttentionHead> masked_heads, masked_cross_heads;  // heads of this layer
  LayerCache* cache;                                                // null: none
};

// Sections 3.1 and 3.2.3: self-attention to the target tokens so far, attention to the source, feed-forward network.
struct DecoderLayer : LayerBase {
  std::variant<MultiHeadAttention, RecurrentUnit> self;
  MultiHeadAttention encoder_attn;
  LayerNorm encoder_attn_layer_norm;

  explicit DecoderLayer(const LayerOptions& options);
  // The stream, [tokens, d_model], after this layer. Writes the keys and values of the new tokens into the cache.
  ResidualStream operator()(Tape& tape, ResidualStream stream, const DecoderCall& call) const;

  template <class Self, class Visitor>
  static void visit(Self& self, const ParameterScope& scope, Visitor&& v) {
    const bool is_recurrent = std::holds_alternative<RecurrentUnit>(self.self);
    const ParameterScope first = scope.in(is_recurrent ? Module::recurrent : Module::self_attention);
    const ParameterScope cross = scope.in(Module::cross_attention);
    if (auto* attention = std::get_if<MultiHeadAttention>(&self.self))
      MultiHeadAttention::visit(*attention, first.under(".self_attn"), v);
    if (auto* cell = std::get_if<RecurrentUnit>(&self.self)) RecurrentUnit::visit(*cell, first.under(".recurrent"), v);
    visit_norm(self, self.self_attn_layer_norm, first.under(".self_attn_layer_norm"), v);
    MultiHeadAttention::visit(self.encoder_attn, cross.under(".encoder_attn"), v);
    visit_norm(self, self.encoder_attn_layer_norm, cross.under(".encoder_attn_layer_norm"), v);
    visit_feed_forward(self, scope, v);
  }

 private:
  Var see_target(Tape& tape, Var h, const DecoderCall& call, StackRecord* record) const;
  Var see_source(Tape& tape, Var h, const DecoderCall& call, StackRecord* record) const;
};

}  // namespace wasmformer
