// The files next to the weights of an encoder in a Hugging Face folder.
#pragma once

#include <map>
#include <string>

#include "bundle/model_file.h"

namespace wasmformer {

// config.json, with the labels by id and the ids of special tokens, and the tokenizer: vocab.txt and
// tokenizer_config.json of BERT's, source.spm and vocab.json of others.
std::map<std::string, std::string> encoder_settings(const ModelFile& model);

}  // namespace wasmformer
