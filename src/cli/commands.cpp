#include "cli/commands.h"

#include "cli/files.h"

namespace wasmformer {
namespace {

template <class Parse>
auto naming(const std::string& path, Parse parse) {
  try {
    return parse(read_file(path));
  } catch (const Error& e) {
    const std::string text = e.what();
    throw Error(text.find(path) == std::string::npos ? path + ": " + text : text);
  }
}

}  // namespace

ModelFile load_model(const std::string& path, Weights weights) {
  return naming(path, [weights](const std::string& bytes) { return parse_model(bytes, weights); });
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  return naming(path, [](std::string bytes) { return std::make_shared<const Tokenizer>(std::move(bytes)); });
}

std::pair<std::string, std::string> key_value(const std::string& text) {
  const auto equals = text.find('=');
  WASMFORMER_CHECK(equals != std::string::npos && equals > 0, "[options] '" << text << "' is not KEY=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void set_metadata(ModelFile& model, const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    const auto [key, value] = key_value(option);
    model.metadata[key] = value;
  }
}

}  // namespace wasmformer
