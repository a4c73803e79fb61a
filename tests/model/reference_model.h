// The whole model of figure 1 (Vaswani et al. 2017) in double and in plain loops, with its choices of norm, residual
// connection, mask, positions and width of keys: what model/transformer.h computes fast, and is tested against.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/transformer.h"
#include "ops/attention_reference.h"
#include "ops/layer_norm_reference.h"

namespace wasmformer {

// Of scaled_dot attention, ReLU and shared embeddings.
class ReferenceModel {
 public:
  using Rows = Eigen::MatrixXd;

  explicit ReferenceModel(const Transformer& transformer) : c_(transformer.config()) {
    transformer.visit(
        [this](const ParameterInfo& info, const Parameter& p) { weights_[info.name] = p.matrix().cast<double>(); });
  }

  // The output of the encoder for one sentence, [tokens, d_model].
  Rows encode(const std::vector<TokenId>& source) const {
    Rows x = embedded(source, source.size(), "encoder");
    for (Index l = 0; l < c_.encoder_layers; ++l) {
      const std::string layer = "model.encoder.layers." + std::to_string(l);
      x = sublayer(x, layer + ".self_attn_layer_norm",
                   [&](const Rows& h) { return attention(layer + ".self_attn", h, h, /*causal=*/false); });
      x = feed_forward(x, layer);
    }
    return output(x, "encoder");
  }

  // Scores before the softmax, [target tokens, vocabulary]; target tokens are shifted right.
  Rows logits(const std::vector<TokenId>& source, const std::vector<TokenId>& target, bool causal) const {
    const Rows memory = encode(source);
    Rows x = embedded(target, source.size(), "decoder");
    for (Index l = 0; l < c_.decoder_layers; ++l) {
      const std::string layer = "model.decoder.layers." + std::to_string(l);
      x = sublayer(x, layer + ".self_attn_layer_norm",
                   [&](const Rows& h) { return attention(layer + ".self_attn", h, h, causal); });
      x = sublayer(x, layer + ".encoder_attn_layer_norm",
                   [&](const Rows& h) { return attention(layer + ".encoder_attn", h, memory, /*causal=*/false); });
      x = feed_forward(x, layer);
    }
    return (output(x, "decoder") * weight("model.shared.weight").transpose()).rowwise() +
           Eigen::RowVectorXd(weight("final_logits_bias").row(0));
  }

 private:
  const Rows& weight(const std::string& name) const { return weights_.at(name); }

  double position(Index place, Index feature, Index source_tokens, const std::string& stack) const {
    switch (c_.positions) {
      case Positions::integers:
        return static_cast<double>(place);
      case Positions::fractions:
        return static_cast<double>(place) / static_cast<double>(std::max<Index>(source_tokens - 1, 1));
      case Positions::learned:
        return weight("model." + stack + ".embed_positions.weight")(place, feature);
      case Positions::sinusoidal: {
        const double pair = static_cast<double>(feature / 2 * 2) / static_cast<double>(c_.d_model);
        const double angle = static_cast<double>(place) / std::pow(10000.0, pair);
        return feature % 2 == 0 ? std::sin(angle) : std::cos(angle);
      }
      default:
        return 0;
    }
  }

  Rows embedded(const std::vector<TokenId>& ids, std::size_t source_tokens, const std::string& stack) const {
    Rows x(static_cast<Index>(ids.size()), c_.d_model);
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j)
        x(i, j) = weight("model.shared.weight")(ids[static_cast<std::size_t>(i)], j) *
                      std::sqrt(static_cast<double>(c_.d_model)) +
                  position(i, j, static_cast<Index>(source_tokens), stack);
    return x;
  }

  Rows linear(const std::string& name, const Rows& x) const {
    return (x * weight(name + ".weight").transpose()).rowwise() + Eigen::RowVectorXd(weight(name + ".bias").row(0));
  }

  Rows norm(const std::string& name, const Rows& x) const {
    return layer_norm_reference(x, weight(name + ".weight").row(0), weight(name + ".bias").row(0), c_.norm_epsilon);
  }

  Rows sublayer(const Rows& x, const std::string& norm_name, const std::function<Rows(const Rows&)>& f) const {
    const Rows y = f(c_.norm == NormPosition::pre ? norm(norm_name, x) : x);
    const Rows sum = c_.residual ? Rows(x + y) : y;
    return c_.norm == NormPosition::post ? norm(norm_name, sum) : sum;
  }

  Rows feed_forward(const Rows& x, const std::string& layer) const {
    return sublayer(x, layer + ".final_layer_norm",
                    [&](const Rows& h) { return linear(layer + ".fc2", linear(layer + ".fc1", h).cwiseMax(0)); });
  }

  Rows attention(const std::string& name, const Rows& x, const Rows& memory, bool causal) const {
    const Rows q = linear(name + ".q_proj", x), k = linear(name + ".k_proj", memory),
               v = linear(name + ".v_proj", memory);
    Rows heads(x.rows(), c_.d_model);
    const Index d_k = q.cols() / c_.num_heads, d_v = c_.d_model / c_.num_heads;
    for (Index h = 0; h < c_.num_heads; ++h)
      heads.middleCols(h * d_v, d_v) = attention_reference(q.middleCols(h * d_k, d_k), k.middleCols(h * d_k, d_k),
                                                           v.middleCols(h * d_v, d_v), causal, scaled_dot_product)
                                           .output;
    return linear(name + ".out_proj", heads);
  }

  Rows output(const Rows& x, const std::string& stack) const {
    return c_.norm == NormPosition::pre ? norm("model." + stack + ".layer_norm", x) : x;
  }

  Config c_;
  std::map<std::string, Rows> weights_;
};

}  // namespace wasmformer
