#include "exchange/import.h"

#include <algorithm>

#include "exchange/huggingface/bert.h"
#include "exchange/huggingface/hugging_face.h"
#include "exchange/marian/marian.h"

namespace wasmformer {
namespace {

// Mozilla puts this file beside its students; no other program does.
constexpr const char* mozilla_file = "metadata.json";

bool is_read_by_hugging_face(const std::string& name, bool has_safetensors) {
  if (name == "pytorch_model.bin") return !has_safetensors;
  return name.ends_with(".json") || name.ends_with(".spm") || name == "vocab.txt" || name == "model.safetensors";
}

bool is_read_by_marian(const std::string& name) {
  if (name.ends_with(".npz")) return !name.ends_with(".optimizer.npz");
  return name.ends_with(".yml") || name.ends_with(".spm") || name.ends_with(".bin") || name == mozilla_file;
}

// Marks a student of Mozilla: translating does not use its shortlist unless it is asked to, as in Firefox.
void mark_as_mozillas(ModelFile& model) {
  if (model.shortlist) model.metadata[shortlist_use_key] = "off";
}

}  // namespace

std::vector<std::string> folder_files(const std::vector<std::string>& names) {
  const auto has = [&names](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  const bool is_hugging_face = has(config_name), has_safetensors = has("model.safetensors");
  std::vector<std::string> result;
  for (const std::string& name : names) {
    const bool is_read = is_hugging_face ? is_read_by_hugging_face(name, has_safetensors) : is_read_by_marian(name);
    if (is_read) result.push_back(name);
  }
  return result;
}

ModelFile import_folder(const FolderFiles& files) {
  ModelFile model = is_bert(files) ? import_bert(files) : import_marian(files);
  if (files.contains(mozilla_file) && !files.contains(config_name)) mark_as_mozillas(model);
  return model;
}

}  // namespace wasmformer
