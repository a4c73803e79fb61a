// The parts of a Transformer layer. Each owns its parameters and names them in visit(path, v), which calls
// v(name, parameter, initializer), with the names of Hugging Face's Marian.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <vector>

#include "autograd/parameter.h"
#include "autograd/tape.h"
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

// The distribution that a parameter starts from: Xavier (Glorot and Bengio 2010) is uniform in ±√(6 / (rows +
// cols)), and so are scores; embeddings and positions are normal with deviation cols^-0.5, so that √d_model
// times an embedding has variance 1.
enum class Initializer { xavier, scores, embedding, positions, zeros, ones };

// Weights of products and token embeddings can be packed, and can be int8.
constexpr bool can_be_packed(Initializer rule) { return rule == Initializer::xavier || rule == Initializer::embedding; }

struct Linear {
  Parameter weight;  // [out, in]
  Parameter bias;    // [1, out]

  Linear(Index in, Index out) : weight(out, in), bias(1, out) {}
  Var operator()(Tape& tape, Var x);

  template <class Visitor>
  void visit(const std::string& path, Visitor&& v) {
    v(path + ".weight", weight, Initializer::xavier);
    v(path + ".bias", bias, Initializer::zeros);
  }
};

struct LayerNorm {
  Parameter weight, bias;  // [1, d]
  double epsilon;

  LayerNorm(Index d, double eps) : weight(1, d), bias(1, d), epsilon(eps) {}
  Var operator()(Tape& tape, Var x);
  // After a residual connection: of x + dropout(y), which takes the memory of y.
  ResidualNorm operator()(Tape& tape, Var x, Var y, double dropout) {
    return residual_norm(tape, x, y, dropout, weight, bias, epsilon);
  }

  template <class Visitor>
  void visit(const std::string& path, Visitor&& v) {
    v(path + ".weight", weight, Initializer::ones);
    v(path + ".bias", bias, Initializer::zeros);
  }
};

// A head of a model; layer and head count from 0.
struct AttentionHead {
  enum Kind { encoder, decoder, cross } attention = encoder;  // decoder: its self-attention
  Index layer = 0, head = 0;
  auto operator<=>(const AttentionHead&) const = default;

  // See model/options.h.
  template <class Visitor>
  void visit(Visitor&& v) {
    v({"attention", "the encoder's attention, the decoder's own, or the decoder's to the source"}, attention);
    v({"layer", "counted from 0", {.low = 0}}, layer);
    v({"head", "counted from 0", {.low = 0}}, head);
  }
};

// Inputs and results of an attention. Variables are valid as long as those of the tape.
struct AttentionRecord {
  Var queries;                        // [n, d_model], projected, and turned if positions are rotary
  Var keys, values;                   // [m, d_model], likewise, values not turned; with a cache, its rows
  std::vector<Matrix> probabilities;  // of each sentence, [heads · query rows, key rows]
  Var output;                         // [n, d_model]: Concat(head_1, ..., head_h), before W^O
};

// Arguments of an attention; spans and rows as in ops/attention.h.
struct AttentionCall {
  std::span<const Span> query_spans, key_spans;
  std::span<const std::int32_t> key_rows;
  bool causal;
  std::span<const AttentionHead> masked_heads;  // their output is 0; not while recording gradients
  AttentionRecord* record;                      // filled where not null
  Rotation rotation = {};                       // of the queries; their keys are turned already
};

// Section 3.2.2: MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O.
struct MultiHeadAttention {
  Linear q_proj, k_proj, v_proj, out_proj;  // [d_model, d_model]
  Parameter score;                          // additive: w of every head, [1, d_model]; bilinear: W, [d_model, d_k]
  Index num_heads;
  double dropout;  // of the probabilities
  AttentionScore kind;

  MultiHeadAttention(Index d_model, Index heads, double attention_dropout, AttentionScore scores)
      : q_proj(d_model, d_model),
        k_proj(d_model, d_model),
        v_proj(d_model, d_model),
        out_proj(d_model, d_model),
        num_heads(heads),
        dropout(attention_dropout),
        kind(scores) {
    if (kind == AttentionScore::additive) score = Parameter(1, d_model);
    if (kind == AttentionScore::bilinear) score = Parameter(d_model, d_model / heads);
  }

  // Keys of x, [m, d_model], turned to their places.
  Var keys(Tape& tape, Var x, const Rotation& rotation) { return rotary(tape, k_proj(tape, x), rotation, num_heads); }
  // x: [n, d_model] queries; keys and values: [m, d_model], projected by keys() and v_proj.
  Var operator()(Tape& tape, Var x, Var keys, Var values, const AttentionCall& call);

  template <class Visitor>
  void visit(const std::string& path, Visitor&& v) {
    q_proj.visit(path + ".q_proj", v);
    k_proj.visit(path + ".k_proj", v);
    v_proj.visit(path + ".v_proj", v);
    out_proj.visit(path + ".out_proj", v);
    if (kind == AttentionScore::additive) v(path + ".score_v", score, Initializer::scores);
    if (kind == AttentionScore::bilinear) v(path + ".score_proj.weight", score, Initializer::scores);
  }
};

// A recurrent cell instead of the decoder's self-attention (ops/ssru.h): u = x Wᵀ, gate = x W_fᵀ + b_f.
struct RecurrentUnit {
  Parameter input;  // W, [d_model, d_model]
  Linear forget_gate;

  explicit RecurrentUnit(Index d_model) : input(d_model, d_model), forget_gate(d_model, d_model) {}
  Var operator()(Tape& tape, Var x, std::span<const Span> spans, const CachedCells* kept);

  template <class Visitor>
  void visit(const std::string& path, Visitor&& v) {
    v(path + ".input_proj.weight", input, Initializer::xavier);
    forget_gate.visit(path + ".forget_gate", v);
  }
};

// Equation 2: FFN(x) = f(x W_1 + b_1) W_2 + b_2.
struct FeedForward {
  Linear fc1, fc2;  // [ffn_dim, d_model], [d_model, ffn_dim]
  Activation kind;
  double dropout;  // after the activation

  FeedForward(Index d_model, Index ffn_dim, Activation activation, double activation_dropout)
      : fc1(d_model, ffn_dim), fc2(ffn_dim, d_model), kind(activation), dropout(activation_dropout) {}
  // `hidden`, if given, becomes what is between the two matrices, after the activation.
  Var operator()(Tape& tape, Var x, Var* hidden = nullptr);

  template <class Visitor>
  void visit(const std::string& path, Visitor&& v) {
    fc1.visit(path + ".fc1", v);
    fc2.visit(path + ".fc2", v);
  }
};

}  // namespace wasmformer
