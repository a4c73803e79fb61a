// Models in the files of Marian itself.
#pragma once

#include "bundle/model_file.h"
#include "exchange/folder_files.h"

namespace wasmformer {

// import_marian() of a folder of Marian itself: decoder.yml, the model's .npz and the vocabularies it names.
ModelFile import_marian_npz(const FolderFiles& files);
// The same of a student as Firefox and Bergamot run them: one .bin file, and vocab*.spm, or srcvocab*.spm and
// trgvocab*.spm, and a binary shortlist if there is one. int8 weights stay as they are.
ModelFile import_student(const FolderFiles& files);

}  // namespace wasmformer
