#include "exchange/folder.h"

#include <algorithm>

#include "exchange/huggingface/bert.h"
#include "exchange/huggingface/hugging_face.h"
#include "exchange/marian/marian.h"
#include "schema/error.h"

namespace wasmformer {

std::vector<std::string> folder_files(const std::vector<std::string>& names) {
  const auto has = [&names](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  const bool hugging_face = has(config_name), safetensors = has("model.safetensors");
  std::vector<std::string> read;
  for (const std::string& name : names) {
    const bool wanted = hugging_face ? name.ends_with(".json") || name.ends_with(".spm") || name == "vocab.txt" ||
                                           name == "model.safetensors" || (name == "pytorch_model.bin" && !safetensors)
                                     : name.ends_with(".yml") || name.ends_with(".spm") || name.ends_with(".bin") ||
                                           (name.ends_with(".npz") && !name.ends_with(".optimizer.npz"));
    if (wanted) read.push_back(name);
  }
  return read;
}

ModelFile import_folder(const FolderFiles& files) { return is_bert(files) ? import_bert(files) : import_marian(files); }

std::string_view folder_file(const FolderFiles& files, const std::string& name) {
  const auto found = files.find(name);
  WASMFORMER_CHECK(found != files.end(), ErrorCode::file_missing, "the folder has no " << name, {"name", name});
  return found->second;
}

}  // namespace wasmformer
