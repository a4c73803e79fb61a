// Reads and writes models of other programs. Part of the extras module, which is loaded only for one-off work.
#include "arrays.h"
#include "exchange/import.h"
#include "exchange/marian/marian_export.h"
#include "exchange/onnx/onnx_export.h"

using namespace wasmformer;

namespace {

Precision float_precision(const std::string& name) { return name == "f16" ? Precision::f16 : Precision::f32; }

Bytes read_folder(const std::vector<std::string>& names, const std::vector<Bytes>& files, const std::string& languages,
                  const std::string& precision) {
  std::vector<std::string> bytes;
  for (const Bytes& file : files) bytes.push_back(from_bytes(file));
  FolderFiles folder;
  for (std::size_t i = 0; i < names.size(); ++i) folder[names[i]] = bytes[i];
  ModelFile model = import_folder(folder);
  bytes = {};
  if (!languages.empty()) model.metadata["languages"] = languages;
  if (precision == "int8" && model.precision != "int8") model.transformer->quantize();
  return to_bytes(serialize_model(model, float_precision(precision)));
}

struct Folder {
  std::vector<std::string> names;
  std::vector<Bytes> files;
};

Folder to_folder(const std::map<std::string, std::string>& files) {
  Folder folder;
  for (const auto& [name, bytes] : files) {
    folder.names.push_back(name);
    folder.files.push_back(to_bytes(bytes));
  }
  return folder;
}

Folder write_marian(const Bytes& model, const std::string& precision) {
  return to_folder(export_marian(parse_model(from_bytes(model)), float_precision(precision)));
}

Folder write_onnx(const Bytes& model) { return to_folder(export_onnx(parse_model(from_bytes(model)))); }

}  // namespace

EMSCRIPTEN_BINDINGS(wasmformer_convert) {
  using namespace emscripten;
  register_type<Bytes>("Uint8Array");
  register_array<std::string>("string[]");
  register_array<Bytes>("Uint8Array[]");
  value_object<Folder>("Folder").field("names", &Folder::names).field("files", &Folder::files);
  emscripten::function("folderFiles", &folder_files);
  emscripten::function("readFolder", &read_folder);
  emscripten::function("writeMarian", &write_marian);
  emscripten::function("writeOnnx", &write_onnx);
}
