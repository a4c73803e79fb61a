// Random models over the letters a to h, one token each.
#pragma once

#include "bundle/model_file.h"
#include "tests/model/small_model.h"
#include "tests/text/tiny_tokenizer.h"

namespace wasmformer {

// Ids: pad 0, unk 1, begin 2, end 3, "▁" 4, a 5, ... A text begins with "▁".
inline std::shared_ptr<const Tokenizer> letters_tokenizer() {
  return std::make_shared<const Tokenizer>(tiny::model({"a", "b", "c", "d", "e", "f", "g", "h"}));
}

inline Config letters_config() {
  Config c = small_config();
  c.source_vocab_size = c.target_vocab_size = 13;
  c.max_length = 40;
  return c;
}

// `end_bias`: how much likelier than by its weights the end token is, so that sentences end early or late.
inline ModelFile letters_model(std::uint64_t seed, double end_bias = 0, DecoderSelf self = DecoderSelf::attention) {
  Config config = letters_config();
  config.decoder_self = self;
  const auto tokenizer = letters_tokenizer();
  ModelFile file{std::make_unique<Transformer>(random_model(config, seed)), tokenizer, tokenizer, {}};
  file.transformer->visit([&](const ParameterInfo& info, Parameter& p) {
    if (info.name == "final_logits_bias") p.value(0, letters_config().eos_id) += static_cast<Scalar>(end_bias);
    // Sharper choices: a random model's are all nearly equally probable.
    if (info.name == "model.shared.weight") p.value *= 2;
  });
  return file;
}

}  // namespace wasmformer
