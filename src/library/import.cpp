#include "wasmformer/import.h"

#include <list>

#include "exchange/import.h"
#include "library/bytes.h"
#include "library/mapped_file.h"

namespace wasmformer {
namespace {

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file()) names.push_back(it->path().filename().string());
  WASMFORMER_CHECK(!error, ErrorCode::files, "cannot read the folder '" << folder.string() << "': " << error.message());
  return names;
}

ModelFile import_mapped(const std::filesystem::path& folder) {
  std::list<MappedFile> files;
  FolderFiles contents;
  for (const std::string& name : folder_files(names_in(folder)))
    contents.emplace(name, files.emplace_back(folder / name).bytes());
  return import_folder(contents);
}

}  // namespace

std::vector<std::byte> import_model(const std::filesystem::path& folder) {
  const ModelFile model = naming(folder.string(), [&] { return import_mapped(folder); });
  return bytes_of(serialize_model(model, Precision::f32));
}

}  // namespace wasmformer
