// Reads models of other programs, whichever they are of.
#pragma once

#include <string>
#include <vector>

#include "bundle/model_file.h"
#include "exchange/folder_files.h"

namespace wasmformer {

// Files of a folder that import_folder() reads.
std::vector<std::string> folder_files(const std::vector<std::string>& names);
// Calls import_marian() or import_bert(), depending on the folder. A student that Mozilla published does not use its
// shortlist unless it is asked to, as in Firefox.
ModelFile import_folder(const FolderFiles& files);

}  // namespace wasmformer
