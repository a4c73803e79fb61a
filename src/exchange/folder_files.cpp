#include "exchange/folder_files.h"

#include "schema/error.h"

namespace wasmformer {

std::string_view folder_file(const FolderFiles& files, const std::string& name) {
  const auto found = files.find(name);
  WASMFORMER_CHECK(found != files.end(), ErrorCode::file_missing, "the folder has no " << name, {"name", name});
  return found->second;
}

}  // namespace wasmformer
