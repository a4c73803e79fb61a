// The identity of a parameter, as values that code can compare. Its name is text for files and messages.
#pragma once

#include <compare>
#include <string>

#include "tensor/matrix.h"

namespace wasmformer {

// The part of a model that a parameter belongs to: both stacks of figure 1 (Vaswani et al. 2017), what they share, and
// the heads that read their output.
enum class Stack { shared, encoder, decoder, heads };

// The part of a layer, of a stack outside of its layers, or of the heads.
enum class Module {
  embedding,
  convolution,      // over the embeddings of an encoder
  self_attention,   // with its norm, as all sublayers
  recurrent,        // instead of the decoder's self-attention
  cross_attention,  // from the decoder to the encoder's output
  feed_forward,
  output_norm,  // after the last layer of a pre-norm stack
  vocabulary,   // the output projection, if its weight is not that of an embedding
  pooler,
  classifier,
  tagger
};

// The use that a module makes of a parameter. Weights are [out, in], biases [1, out], those of norms [1, d_model].
enum class Role {
  weight,
  bias,
  norm_weight,
  norm_bias,
  token_embedding,     // [vocabulary, d_model]
  position_embedding,  // [max_length, d_model]
  query_weight,
  query_bias,
  key_weight,
  key_bias,
  value_weight,
  value_bias,
  output_weight,  // W^O of section 3.2.2
  output_bias,
  score,  // weights of additive or bilinear attention (nn/layers.h)
  input_weight,
  forget_gate_weight,
  forget_gate_bias,
  inner_weight,  // W_1 and b_1 of equation 2, then W_2 and b_2
  inner_bias,
  outer_weight,
  outer_bias,
  transitions  // scores of a conditional random field (ops/crf.h)
};

// The distribution that a parameter starts from: Xavier (Glorot and Bengio 2010) is uniform in ±√(6 / (rows +
// cols)), and so are scores; embeddings and positions are normal with deviation cols^-0.5, so that √d_model
// times an embedding has variance 1.
enum class Initializer { xavier, scores, embedding, positions, zeros, ones };

// The layer of a parameter that is in no layer.
inline constexpr Index no_layer = -1;

// No two parameters of a model have the same.
struct ParameterId {
  Stack stack;
  Index layer;  // in its stack, counted from 0, or no_layer
  Module module;
  Role role;

  bool is_in_layer() const { return layer != no_layer; }
  auto operator<=>(const ParameterId&) const = default;
};

struct ParameterInfo : ParameterId {
  // In files; translators use the names of Hugging Face's Marian, "model.encoder.layers.0.fc1.weight".
  std::string name;
  Initializer initializer;

  // Weights of products and token embeddings can be packed, and can be int8.
  bool can_be_packed() const { return initializer == Initializer::xavier || initializer == Initializer::embedding; }
  // Weights of products inside a layer: attention, feed-forward and recurrent unit.
  bool is_matrix_in_layer() const { return is_in_layer() && initializer == Initializer::xavier; }
};

// The roles of the two parameters of a linear map.
struct RolePair {
  Role weight, bias;
};

// The module whose parameters visit() is giving, and the beginning of their names.
struct ParameterScope {
  Stack stack;
  Index layer;
  Module module;
  std::string path;

  // Returns the same scope with a longer path, or for another module.
  ParameterScope under(const char* name) const { return {stack, layer, module, path + name}; }
  ParameterScope in(Module other) const { return {stack, layer, other, path}; }
  ParameterInfo info(Role role, const char* name, Initializer initializer) const {
    return {{stack, layer, module, role}, path + name, initializer};
  }
};

}  // namespace wasmformer
