#include "cli/decoding_options.h"

#include <CLI/CLI.hpp>

namespace wasmformer {

void add_decoding_options(CLI::App& command, DecodingOptions& o) {
  command.add_option("--model", o.model, "model file")->required();
  command.add_option("--beam-size", o.translate.beam_size, "1 is greedy")->capture_default_str();
  command.add_option("--length-penalty", o.translate.length_penalty, "alpha of ((5 + n) / 6)^alpha")
      ->capture_default_str();
  command.add_option("--max-length", o.translate.max_length, "target tokens at most; 0: source tokens + 50")
      ->capture_default_str();
  command.add_option("--batch-tokens", o.batch_tokens, "source tokens of a batch")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--threads", o.threads, "threads")->check(CLI::Range(1, 256))->capture_default_str();
}

}  // namespace wasmformer
