// The options that `translate` and `evaluate` share.
#pragma once

#include <set>
#include <string>

#include "decode/translate_options.h"

namespace CLI {
class App;
}

namespace wasmformer {

struct DecodingOptions {
  std::string model;
  TranslateOptions translate;
  Index batch_tokens = 2048;
  int threads = 1;
};

// `without`: names of translate options that the command does not have.
void add_decoding_options(CLI::App& command, DecodingOptions& options, const std::set<std::string>& without);

}  // namespace wasmformer
