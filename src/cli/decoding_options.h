// The options that `translate` and `evaluate` share.
#pragma once

#include <string>

#include "decode/translator.h"

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

void add_decoding_options(CLI::App& command, DecodingOptions& options);

}  // namespace wasmformer
