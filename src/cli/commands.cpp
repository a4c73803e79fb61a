#include "cli/commands.h"

#include <nlohmann/json.hpp>

#include "cli/files.h"

namespace wasmformer {

ModelFile load_model(const std::string& path, Weights weights) { return parse_model(path, read_file(path), weights); }

ModelFile parse_model(const std::string& path, const std::string& bytes, Weights weights) {
  return naming(path, [&] { return parse_model(bytes, weights); });
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  return naming(path, [&] { return std::make_shared<const Tokenizer>(read_file(path)); });
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
    WASMFORMER_CHECK(equals != std::string::npos && equals > 0, "[options] '" << option << "' is not KEY=VALUE");
    all.emplace_back(option.substr(0, equals), option.substr(equals + 1));
  }
  return all;
}

}  // namespace wasmformer
