// A folder that holds a model of another program, as the bytes of its files by name.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "bundle/model_file.h"

namespace wasmformer {

using FolderFiles = std::map<std::string, std::string_view>;

// Which of a folder's files import_folder() reads.
std::vector<std::string> folder_files(const std::vector<std::string>& names);
// Calls import_marian() or import_bert(), depending on the folder.
ModelFile import_folder(const FolderFiles& files);

// Throws Error if there is no such file.
std::string_view folder_file(const FolderFiles& files, const std::string& name);

// The model of `config`, with the weights of `file` and both tokenizers. `file` must hold exactly the tensors
// of the model, under our names.
ModelFile assemble_model(const Config& config, const SafetensorsFile& file, Tokenizer source, Tokenizer target);

// import_marian() of a folder of Marian itself: decoder.yml, the model's .npz and the vocabularies it names.
ModelFile import_marian_npz(const FolderFiles& files);
// The same of a student as Firefox and Bergamot run them: one .bin file, and vocab*.spm, or srcvocab*.spm and
// trgvocab*.spm, and a binary shortlist if there is one. int8 weights stay as they are.
ModelFile import_student(const FolderFiles& files);

}  // namespace wasmformer
