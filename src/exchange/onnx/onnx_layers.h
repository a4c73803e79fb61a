// The layers of figure 1 (Vaswani et al. 2017) as ONNX operations. nn/transformer_layers.h has the same layers in C++;
// here keys and values that a decoder keeps are inputs and outputs of the graph.
#pragma once

#include <string>

#include "exchange/onnx/graph_builder.h"
#include "model/transformer.h"
#include "tensor/function_ref.h"

namespace wasmformer {

// Sizes that are known at run time only.
namespace onnx_sizes {
constexpr const char *batch = "batch_size", *source = "encoder_sequence_length", *target = "decoder_sequence_length";
}

// Inputs that all layers of a decoder share.
struct OnnxDecoderInputs {
  OnnxValue places;        // positions of the target tokens
  OnnxValue causal_mask;   // added to scores; "" for a recurrent decoder
  OnnxValue fresh_memory;  // the encoder's output, as far as its keys and values are not in the past yet
  OnnxValue padding_mask;  // mask of the source, added to scores
};

// Values are [batch, tokens, d_model] unless stated otherwise.
class OnnxLayers {
 public:
  OnnxLayers(GraphBuilder& graph, const Transformer& transformer)
      : graph_(graph), transformer_(transformer), c_(transformer.config()) {}

  // Sections 3.4 and 3.5. ids: [batch, tokens]; places: [tokens] or [batch, tokens]; `table` by its parameter's name.
  OnnxValue embed(const OnnxValue& ids, const OnnxValue& places, const std::string& table, const Matrix& positions);

  // nn/layers.h, with the residual connection. is_there: [batch, tokens], 0 for padding.
  OnnxValue convolution(const OnnxValue& x, const OnnxValue& is_there);

  // The left block of figure 1. mask: [batch, 1, 1, tokens], added to scores.
  OnnxValue encoder_layer(OnnxValue x, Index number, const OnnxValue& mask, const OnnxValue& places);
  // The right block.
  OnnxValue decoder_layer(OnnxValue x, Index number, const OnnxDecoderInputs& inputs);
  // The norm at the end of a stack, such as "model.encoder", which only pre-norm has.
  OnnxValue stack_output(const OnnxValue& x, const std::string& stack);
  OnnxValue norm(const OnnxValue& x, const std::string& name) { return graph_.layer_norm(x, name, c_.norm_epsilon); }

  // 0 where `ones`, [batch, source tokens], is 1, and the lowest number where it is 0: [batch, 1, 1, source tokens].
  OnnxValue padding_mask(const OnnxValue& ones);
  // For queries at `places`, the last of `count` tokens: 0, or the lowest number for later tokens. [queries, count].
  OnnxValue causal_mask(const OnnxValue& places, const OnnxValue& count);

 private:
  using Sublayer = FunctionRef<OnnxValue(const OnnxValue&)>;
  struct Attention {
    std::string name;  // prefix of its parameters
    OnnxValue mask;    // added to the scores
    OnnxValue places;  // positions of the queries, for their rotation; "" for none
  };

  // Section 3.2: equation 1 in every head, between the projections of section 3.2.2. k, v: split into heads.
  OnnxValue attention(const OnnxValue& x, const OnnxValue& k, const OnnxValue& v, const Attention& a);
  // Scores of queries and keys, both split into heads: [batch, heads, queries, keys].
  OnnxValue scores(OnnxValue q, const OnnxValue& k, const std::string& name);
  // The same with the keys and values of `rows` after those of earlier calls; `part`: "decoder" or "encoder".
  OnnxValue cached_attention(const OnnxValue& x, const OnnxValue& rows, const std::string& part, Index layer,
                             const Attention& a);
  // Declares a value that a layer caches, such as "decoder.key", as an input and an output.
  struct Cache {
    OnnxValue past, present;
  };
  Cache cache(Index layer, const std::string& what, const OnnxGraph::Dimensions& past,
              const OnnxGraph::Dimensions& present);
  Cache head_cache(Index layer, const std::string& part, const char* what);
  // The cell of ops/ssru.h, token by token: c = u + f (c before - u).
  OnnxValue recurrent(const OnnxValue& x, Index layer);

  // "Add & Norm": norm(x + sublayer(x)), or x + sublayer(norm(x)), or either without its norm or without "x +".
  OnnxValue add_and_norm(const OnnxValue& x, const std::string& norm_name, Sublayer sublayer);
  // Equation 2 with its residual connection.
  OnnxValue feed_forward(const OnnxValue& x, const std::string& layer);
  OnnxValue activation(const OnnxValue& x);

  // [batch, heads, tokens, d_k], and back.
  OnnxValue heads(const OnnxValue& x);
  OnnxValue joined(const OnnxValue& x);
  // Queries or keys, split into heads, rotated by the angles of their places, unless positions are not rotary or
  // `places` is "": (a, b) becomes (a, b) cos + (-b, a) sin, as in ops/rotary.h.
  OnnxValue rotated(const OnnxValue& x, const OnnxValue& places);

  Index d_k() const { return c_.d_model / c_.num_heads; }

  GraphBuilder& graph_;
  const Transformer& transformer_;
  const Config& c_;
};

}  // namespace wasmformer
