// Settings (JSON) and weights, which all Hugging Face folders contain.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bundle/safetensors.h"
#include "exchange/folder_files.h"
#include "ops/activation.h"

namespace wasmformer {

inline constexpr const char* config_name = "config.json";

// Throws Error unless the file is there and is a JSON object.
nlohmann::json parse_json(const FolderFiles& files, const std::string& name);
nlohmann::json parse_json_if_any(const FolderFiles& files, const std::string& name);

// config.json; generation_config.json overrides it.
class Settings {
 public:
  explicit Settings(const FolderFiles& files)
      : json_(parse_json(files, config_name)), generation_(parse_json_if_any(files, "generation_config.json")) {}

  bool has(const char* key) const { return !at(key).is_null(); }
  const nlohmann::json& at(const char* key) const;
  Index whole(const char* key) const { return whole(key, at(key)); }
  Index whole(const char* key, const nlohmann::json& value) const;
  bool flag(const char* key, bool otherwise) const;
  std::string word(const char* key) const { return at(key).is_string() ? at(key).get<std::string>() : ""; }
  Activation activation(const char* key) const;
  double rate(const char* key) const { return at(key).is_number() ? at(key).get<double>() : 0; }
  // A token id, which may be the only element of a list.
  TokenId token(const char* key) const;
  static std::string text(const nlohmann::json& value);

 private:
  nlohmann::json json_, generation_;
};

// The weights in model.safetensors or pytorch_model.bin.
SafetensorsFile read_tensors(const FolderFiles& files);

}  // namespace wasmformer
