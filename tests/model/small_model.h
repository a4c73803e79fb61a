// Small random models, and sentences packed for them.
#pragma once

#include <string>
#include <vector>

#include "model/transformer.h"
#include "tests/ops/random_matrix.h"

namespace wasmformer {

inline Config small_config() {
  Config c;
  c.source_vocab_size = c.target_vocab_size = 9;
  c.d_model = 8;
  c.encoder_layers = 1;
  c.decoder_layers = 2;
  c.num_heads = 2;
  c.ffn_dim = 12;
  c.max_length = 12;
  return c;
}

// Initialised; norms and biases too are away from their ones and zeros, where their gradients may vanish.
inline Transformer random_model(const Config& config, std::uint64_t seed) {
  Transformer model(config);
  model.initialize(seed);
  model.visit([&](const ParameterInfo&, Parameter& p) {
    p.value += random_matrix(p.value.rows(), p.value.cols(), ++seed) * Scalar(0.3);
  });
  return model;
}

struct Packed {
  std::vector<TokenId> ids;
  Spans spans;
};

inline Packed packed(const std::vector<std::vector<TokenId>>& sentences) {
  Packed p;
  for (const auto& s : sentences) {
    p.spans.push_back({static_cast<Index>(p.ids.size()), static_cast<Index>(s.size())});
    p.ids.insert(p.ids.end(), s.begin(), s.end());
  }
  return p;
}

}  // namespace wasmformer
