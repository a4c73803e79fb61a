// A folder of fixtures as import_folder() takes it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "bundle/safetensors.h"
#include "exchange/import.h"
#include "tests/support.h"

namespace wasmformer {

struct Folder {
  std::map<std::string, std::string> files;

  explicit Folder(const std::string& name, const std::string& family = "marian") {
    for (const auto& entry : std::filesystem::directory_iterator(own_fixtures_path() + "/" + family + "/" + name))
      files[entry.path().filename().string()] = read_file(entry.path().string());
  }
  ModelFile import() const { return import_folder({files.begin(), files.end()}); }

  void change(const std::string& name, const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json file = nlohmann::json::parse(files.at(name));
    change(file);
    files[name] = file.dump();
  }
  void configure(const char* key, const nlohmann::json& value) {
    change("config.json", [&](nlohmann::json& config) { config[key] = value; });
  }
  void change_tensors(const std::function<void(std::map<std::string, TensorEntry>&)>& change) {
    const std::string kept = files.at("model.safetensors");
    auto tensors = parse_safetensors(kept).tensors;  // views into `kept`
    change(tensors);
    files["model.safetensors"] = serialize_safetensors({tensors.begin(), tensors.end()}, {});
  }
};

}  // namespace wasmformer
