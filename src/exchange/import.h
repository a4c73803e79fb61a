// Reads models of other programs, whichever they are of.
#pragma once

#include <string>
#include <vector>

#include "bundle/model_file.h"
#include "exchange/folder_files.h"

namespace wasmformer {

// Files of a folder that import_folder() reads.
std::vector<std::string> folder_files(const std::vector<std::string>& names);
// Calls import_marian() or import_bert(), depending on the folder.
ModelFile import_folder(const FolderFiles& files);
// Mozilla puts this file beside its students; no other program does.
inline constexpr const char* mozilla_file = "metadata.json";
// Marks a student of Mozilla: translating does not use its shortlist unless it is asked to, as in Firefox.
void mark_as_mozillas(ModelFile& model);

}  // namespace wasmformer
