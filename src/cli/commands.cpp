#include "cli/commands.h"

#include "tensor/check.h"

namespace wasmformer {

std::pair<std::string, std::string> key_value(const std::string& text) {
  const auto equals = text.find('=');
  WASMFORMER_CHECK(equals != std::string::npos && equals > 0, "[options] '" << text << "' is not KEY=VALUE.");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace wasmformer
