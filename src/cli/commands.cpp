#include "cli/commands.h"

#include "cli/files.h"

namespace wasmformer {
namespace {

// parse(), with errors that name the file.
template <class Parse>
auto naming(const std::string& path, Parse parse) {
  try {
    return parse();
  } catch (const Error& e) {
    const std::string text = e.what();
    throw Error(text.find(path) == std::string::npos ? path + ": " + text : text);
  }
}

}  // namespace

ModelFile load_model(const std::string& path, Weights weights) {
  return parse_model(path, read_file(path), weights);
}

ModelFile parse_model(const std::string& path, const std::string& bytes, Weights weights) {
  return naming(path, [&] { return parse_model(bytes, weights); });
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  return naming(path, [&] { return std::make_shared<const Tokenizer>(read_file(path)); });
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
