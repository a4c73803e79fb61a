// Random models whose vocabulary is the 256 byte pieces and a few letters.
#pragma once

#include "bundle/model_file.h"
#include "tests/model/small_model.h"
#include "tests/text/tiny_tokenizer.h"

namespace wasmformer {

// Ids: pad 0, unk 1, begin 2, end 3, "▁" 4, bytes 5 to 260, a 261, ...
inline ModelFile bytes_model(std::uint64_t seed) {
  const auto tokenizer = std::make_shared<const Tokenizer>(tiny::byte_model({"a", "b", "c"}));
  Config config = small_config();
  config.source_vocab_size = config.target_vocab_size = tokenizer->vocab_size();
  config.max_length = 40;
  ModelFile file{std::make_unique<Transformer>(random_model(config, seed)), tokenizer, tokenizer, {}};
  // Sharper choices: a random model's are all nearly equally probable.
  file.transformer->visit([](const ParameterInfo& info, Parameter& p) {
    if (info.name == "model.shared.weight") p.value *= 2;
  });
  return file;
}

}  // namespace wasmformer
