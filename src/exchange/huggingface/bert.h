// Reads encoders of Hugging Face's BERT (Devlin et al. 2019) and DistilBERT (Sanh et al. 2019) that classify texts or
// tag tokens: config.json, vocab.txt, model.safetensors or pytorch_model.bin and, optionally, tokenizer_config.json.
#pragma once

#include "bundle/model_file.h"
#include "exchange/folder_files.h"

namespace wasmformer {

// Returns whether config.json names BERT or DistilBERT.
bool is_bert(const FolderFiles& files);

// The weights stay floats. Throws Error, with what was expected and found, if a file is missing or damaged, or if
// Transformer has no such model, as with relative positions.
ModelFile import_bert(const FolderFiles& files);

}  // namespace wasmformer
