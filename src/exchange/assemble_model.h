// Puts an imported model together.
#pragma once

#include "bundle/model_file.h"
#include "bundle/safetensors.h"

namespace wasmformer {

// The model of `config`, with the weights of `file` and both tokenizers. `file` must hold exactly the tensors of the
// model, under our names.
ModelFile assemble_model(const Config& config, const SafetensorsFile& file, Tokenizer source, Tokenizer target);

}  // namespace wasmformer
