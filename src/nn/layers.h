// The parts of a Transformer layer. Each owns its parameters and shows them in visit(self, scope, v), which calls
// v(info, parameter) for a const or a mutable `self`. All are const in use, so that several threads may share them.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <vector>

#include "autograd/parameter.h"
#include "autograd/tape.h"
#include "nn/parameter_info.h"
#include "ops/activation.h"
#include "ops/attention.h"
#include "ops/layer_norm.h"
#include "ops/rotary.h"
#include "ops/ssru.h"

namespace wasmformer {

// The score of a query q and a key k of one head, of d_k features each.
enum class AttentionScore {
  scaled_dot,  // q·k / √d_k
  dot,         // q·k (Luong et al. 2015, section 3.1)
  additive,    // w·tanh(q + k), see ops/additive_attention.h
  bilinear     // qᵀ W k, see ops/head_product.h
};

// ops/linear.h
struct Linear {
  Parameter weight;  // [out, in]
  Parameter bias;    // [1, out]

  Linear(Index in, Index out) : weight(out, in), bias(1, out) {}
  // x: [n, in]; returns x Wᵀ + b, [n, out].
  Var operator()(Tape& tape, Var x) const;

  template <class Self, class Visitor>
  static void visit(Self& self, const ParameterScope& scope, RolePair roles, Visitor&& v) {
    v(scope.info(roles.weight, ".weight", Initializer::xavier), self.weight);
    v(scope.info(roles.bias, ".bias", Initializer::zeros), self.bias);
  }
};

// A convolution over the tokens of each sentence (Kim 2014, section 2): relu(W [x_{t-r}; ...; x_{t+r}] + b) with
// r = (width - 1) / 2, and zeros beyond the ends of the sentence.
struct Convolution {
  Index width;
  Parameter weight;  // [d, width · d]
  Parameter bias;    // [1, d]

  Convolution(Index tokens, Index d) : width(tokens), weight(d, tokens * d), bias(1, d) {}
  // x: [n, d], packed sentences; returns [n, d].
  Var operator()(Tape& tape, Var x, std::span<const Span> spans) const;

  template <class Self, class Visitor>
  static void visit(Self& self, const ParameterScope& scope, Visitor&& v) {
    v(scope.info(Role::weight, ".weight", Initializer::xavier), self.weight);
    v(scope.info(Role::bias, ".bias", Initializer::zeros), self.bias);
  }
};

// ops/layer_norm.h
struct LayerNorm {
  Parameter weight, bias;  // [1, d]
  double epsilon;

  LayerNorm(Index d, double eps) : weight(1, d), bias(1, d), epsilon(eps) {}
  // x: [n, d]; returns the norm of each row, [n, d].
  Var operator()(Tape& tape, Var x) const;
  // After a residual connection: x + dropout(y), in the memory of y, and its norm. x, y: [n, d]; both results likewise.
  ResidualNorm operator()(Tape& tape, Var x, Var y, double dropout) const {
    return residual_norm(tape, x, y, dropout, weight, bias, epsilon);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, const ParameterScope& scope, Visitor&& v) {
    v(scope.info(Role::norm_weight, ".weight", Initializer::ones), self.weight);
    v(scope.info(Role::norm_bias, ".bias", Initializer::zeros), self.bias);
  }
};

// Inputs and results of an attention. Variables are valid as long as the tape's.
struct AttentionRecord {
  Var queries;                        // [n, heads · key_dim], projected, and turned if positions are rotary
  Var keys;                           // [m, heads · key_dim], likewise; with a cache, its rows
  Var values;                         // [m, d_model], projected; with a cache, its rows
  std::vector<Matrix> probabilities;  // one matrix per sentence, [heads · query rows, key rows]
  Var output;                         // [n, d_model]: Concat(head_1, ..., head_h), before W^O
};

// Arguments of an attention; spans and rows as in ops/attention.h.
struct AttentionCall {
  std::span<const Span> query_spans, key_spans;
  std::span<const std::int32_t> key_rows;
  bool causal;
  std::span<const AttentionHead> masked_heads;  // their output is 0; not while recording gradients
  AttentionRecord* record;                      // filled where not null
  Rotation rotation = {};                       // applied to the queries; their keys are rotated already
};

// Intermediate results of a stack, if requested. Variables have one row per token and are valid as long as those of the
// tape.
struct StackRecord {
  Var token_embedding;  // [tokens, d_model], times √d_model if scaled
  Var positions;        // [tokens, d_model]; the sum of both enters the first layer, after embedding_norm
  Var embedded;         // [tokens, d_model]: that sum
  std::vector<AttentionRecord> self_attention, cross_attention;  // one per layer that has it
  // The residual stream after each sublayer: with post-norm after the norm, with pre-norm the sum.
  std::vector<Var> residuals;  // [tokens, d_model] each
  std::vector<Var> sublayers;  // [tokens, d_model] each: output of each sublayer, which is added to the stream
  // The same as the tape has them, for their gradients: a norm may take the memory of their values.
  std::vector<Var> results;
  std::vector<Var> norms;   // [tokens, d_model] each: output of each norm, in the order in which they ran
  std::vector<Var> hidden;  // [tokens, ffn_dim], inside the feed-forward network of each layer
  Var output;               // [tokens, d_model]
};

// Sizes and kind of an attention. A query and a key have key_dim features in each head (d_k of section 3.2.2), a value
// d_model / heads (d_v).
struct AttentionSizes {
  Index d_model, heads, key_dim;
  AttentionScore kind;
};

// Section 3.2.2: MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O.
struct MultiHeadAttention {
  Linear q_proj, k_proj;    // [heads · key_dim, d_model]
  Linear v_proj, out_proj;  // [d_model, d_model]
  Parameter score;  // additive: w of every head, [1, heads · key_dim]; bilinear: W, [heads · key_dim, key_dim]
  Index num_heads;
  double dropout;  // rate at which probabilities are dropped
  AttentionScore kind;

  MultiHeadAttention(const AttentionSizes& sizes, double attention_dropout)
      : q_proj(sizes.d_model, sizes.heads * sizes.key_dim),
        k_proj(sizes.d_model, sizes.heads * sizes.key_dim),
        v_proj(sizes.d_model, sizes.d_model),
        out_proj(sizes.d_model, sizes.d_model),
        num_heads(sizes.heads),
        dropout(attention_dropout),
        kind(sizes.kind) {
    if (kind == AttentionScore::additive) score = Parameter(1, sizes.heads * sizes.key_dim);
    if (kind == AttentionScore::bilinear) score = Parameter(sizes.heads * sizes.key_dim, sizes.key_dim);
  }

  // x: [m, d_model]; returns its keys, [m, heads · key_dim], turned to their places if positions are rotary.
  Var keys(Tape& tape, Var x, const Rotation& rotation) const {
    return rotary(tape, k_proj(tape, x), rotation, num_heads);
  }
  // x: [n, d_model] queries; keys: [m, heads · key_dim] and values: [m, d_model], projected by keys() and v_proj.
  // Returns [n, d_model]. Throws Error as attention(), and for masked heads while recording.
  Var operator()(Tape& tape, Var x, Var keys, Var values, const AttentionCall& call) const;

  template <class Self, class Visitor>
  static void visit(Self& self, const ParameterScope& scope, Visitor&& v) {
    Linear::visit(self.q_proj, scope.under(".q_proj"), {Role::query_weight, Role::query_bias}, v);
    Linear::visit(self.k_proj, scope.under(".k_proj"), {Role::key_weight, Role::key_bias}, v);
    Linear::visit(self.v_proj, scope.under(".v_proj"), {Role::value_weight, Role::value_bias}, v);
    Linear::visit(self.out_proj, scope.under(".out_proj"), {Role::output_weight, Role::output_bias}, v);
    if (self.kind == AttentionScore::additive) v(scope.info(Role::score, ".score_v", Initializer::scores), self.score);
    if (self.kind == AttentionScore::bilinear)
      v(scope.info(Role::score, ".score_proj.weight", Initializer::scores), self.score);
  }
};

// A recurrent cell instead of the decoder's self-attention (ops/ssru.h): u = x Wᵀ, gate = x W_fᵀ + b_f.
struct RecurrentUnit {
  Parameter input;  // W, [d_model, d_model]
  Linear forget_gate;

  explicit RecurrentUnit(Index d_model) : input(d_model, d_model), forget_gate(d_model, d_model) {}
  // x: [n, d_model], packed sentences; returns [n, d_model]. `kept` as in ops/ssru.h; null without a cache.
  Var operator()(Tape& tape, Var x, std::span<const Span> spans, const CachedCells* kept) const;

  template <class Self, class Visitor>
  static void visit(Self& self, const ParameterScope& scope, Visitor&& v) {
    v(scope.info(Role::input_weight, ".input_proj.weight", Initializer::xavier), self.input);
    Linear::visit(self.forget_gate, scope.under(".forget_gate"), {Role::forget_gate_weight, Role::forget_gate_bias}, v);
  }
};

// Equation 2: FFN(x) = f(x W_1 + b_1) W_2 + b_2.
struct FeedForward {
  Linear fc1, fc2;  // [ffn_dim, d_model], [d_model, ffn_dim]
  Activation kind;
  double dropout;  // after the activation

  FeedForward(Index d_model, Index ffn_dim, Activation activation, double activation_dropout)
      : fc1(d_model, ffn_dim), fc2(ffn_dim, d_model), kind(activation), dropout(activation_dropout) {}
  // x: [n, d_model]; returns [n, d_model]. `hidden`, if given, becomes the value between the two matrices, after the
  // activation: [n, ffn_dim].
  Var operator()(Tape& tape, Var x, Var* hidden = nullptr) const;

  template <class Self, class Visitor>
  static void visit(Self& self, const ParameterScope& scope, Visitor&& v) {
    Linear::visit(self.fc1, scope.under(".fc1"), {Role::inner_weight, Role::inner_bias}, v);
    Linear::visit(self.fc2, scope.under(".fc2"), {Role::outer_weight, Role::outer_bias}, v);
  }
};

}  // namespace wasmformer
