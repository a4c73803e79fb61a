// Reads a folder of Marian itself: decoder.yml, the model's .npz and the vocabularies it names.
#pragma once

#include "exchange/folder.h"

namespace wasmformer {

// See import_marian().
ModelFile import_marian_npz(const FolderFiles& files);

}  // namespace wasmformer
