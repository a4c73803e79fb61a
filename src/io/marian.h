// Models of Marian (Junczys-Dowmunt et al. 2018), from the bytes of a folder's files by name: a folder of
// Hugging Face's MarianMT (config.json, model.safetensors or pytorch_model.bin, source.spm, target.spm,
// vocab.json), or one of Marian itself (decoder.yml, *.npz, vocabularies).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/model_file.h"

namespace wasmformer {

using FolderFiles = std::map<std::string, std::string_view>;

// Of the names in a folder, those that import_marian() reads.
std::vector<std::string> marian_files(const std::vector<std::string>& names);

// The weights are floats as in the file. Throws Error, saying what was expected and found, for a file that is
// missing or damaged, and for models that this Transformer is not, such as BART's or ones with recurrent
// decoders.
ModelFile import_marian(const FolderFiles& files);

// What both kinds of folders need: the model of a config and its tokenizers. `file` has just the tensors that
// the model has, by their names.
ModelFile assemble_model(const Config& config, const SafetensorsFile& file, Tokenizer source,
                         Tokenizer target);

// Throws Error when there is no such file.
std::string_view folder_file(const FolderFiles& files, const std::string& name);

// The folder of Marian itself (io/marian_npz.cpp).
ModelFile import_marian_npz(const FolderFiles& files);

}  // namespace wasmformer
