#include "exchange/folder.h"

#include <utility>

#include "tensor/check.h"

namespace wasmformer {

std::string_view folder_file(const FolderFiles& files, const std::string& name) {
  const auto found = files.find(name);
  WASMFORMER_CHECK(found != files.end(), "[marian] the folder has no " << name);
  return found->second;
}

ModelFile assemble_model(const Config& config, const SafetensorsFile& file, Tokenizer source,
                         Tokenizer target) {
  ModelFile model;
  model.transformer = std::make_unique<Transformer>(config);
  read_weights(file, *model.transformer, Weights::plain);
  const bool one = source == target;
  model.source_tokenizer = std::make_shared<const Tokenizer>(std::move(source));
  model.target_tokenizer =
      one ? model.source_tokenizer : std::make_shared<const Tokenizer>(std::move(target));
  return model;
}

}  // namespace wasmformer
