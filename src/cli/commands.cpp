#include "cli/commands.h"

#include <nlohmann/json.hpp>

#include "cli/files.h"

namespace wasmformer {

ModelFile load_model(const std::string& path, Weights weights) { return parse_model(path, read_file(path), weights); }

ModelFile parse_model(const std::string& path, const std::string& bytes, Weights weights) {
  return naming(path, [&] { return parse_model(bytes, weights); });
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  const std::string bytes = read_file(path);
  return naming(path, [&] { return std::make_shared<const Tokenizer>(bytes); });
}

nlohmann::json attention_json(const AttentionMaps& maps) {
  return {{"layers", maps.layers},
          {"heads", maps.heads},
          {"rows", maps.rows},
          {"columns", maps.columns},
          {"data", maps.data}};
}

std::vector<std::pair<std::string, std::string>> key_values(const std::vector<std::string>& options) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& option : options) {
    const auto equals = option.find('=');
    WASMFORMER_CHECK(equals != std::string::npos && equals > 0, ErrorCode::options,
                     "'" << option << "' is not KEY=VALUE");
    all.emplace_back(option.substr(0, equals), option.substr(equals + 1));
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> metadata_of(const std::vector<std::string>& options) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& option : options) {
    if (option.find('=') != std::string::npos || !option.ends_with(".json")) {
      all.push_back(key_values({option}).front());
      continue;
    }
    const auto json = nlohmann::json::parse(read_file(option), nullptr, /*allow_exceptions=*/false);
    WASMFORMER_CHECK(json.is_object(), ErrorCode::options, option << " is not a JSON object");
    for (const auto& [key, value] : json.items()) {
      WASMFORMER_CHECK(value.is_string(), ErrorCode::options, option << ": " << key << " is not a string");
      all.emplace_back(key, value);
    }
  }
  for (const auto& [key, value] : all)
    WASMFORMER_CHECK(!is_part_of_model(key), ErrorCode::options, key << " is part of the model and cannot be changed");
  return all;
}

}  // namespace wasmformer
