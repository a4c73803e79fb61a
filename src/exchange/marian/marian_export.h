// A model as the files of a Hugging Face folder, which MarianMTModel and MarianTokenizer open.
#pragma once

#include <map>
#include <string>

#include "bundle/model_file.h"

namespace wasmformer {

// The bytes of each file, by its name: model.safetensors and those of marian_settings(). Weights of int8
// become numbers of `precision`. Where the vocabularies differ in size, the smaller one is filled up with
// pieces that cannot be chosen, as Hugging Face has one size for both. Throws Error, naming the key, for a
// config that Marian does not have, and when a weight is beyond `precision`.
std::map<std::string, std::string> export_marian(const ModelFile& model, Precision precision);

// config.json, generation_config.json, tokenizer_config.json, source.spm, target.spm and vocab.json (and
// target_vocab.json where the two sides differ) of any model. `vocab_size`: of each side, at least what it
// has. Throws Error when the tokenizers cannot be one MarianTokenizer.
std::map<std::string, std::string> marian_settings(const ModelFile& model, Index source_vocab_size,
                                                   Index target_vocab_size, Precision precision);

}  // namespace wasmformer
