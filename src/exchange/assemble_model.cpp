#include "exchange/assemble_model.h"

namespace wasmformer {

ModelFile assemble_model(const Config& config, const SafetensorsFile& file, Tokenizer source, Tokenizer target) {
  ModelFile model;
  model.transformer = std::make_unique<Transformer>(config);
  read_weights(file, *model.transformer, Weights::full);
  const bool is_one = source == target;
  model.source_tokenizer = std::make_shared<const Tokenizer>(std::move(source));
  model.target_tokenizer = is_one ? model.source_tokenizer : std::make_shared<const Tokenizer>(std::move(target));
  return model;
}

}  // namespace wasmformer
