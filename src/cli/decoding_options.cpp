#include "cli/decoding_options.h"

#include <CLI/CLI.hpp>

#include "cli/options.h"

namespace wasmformer {

void add_decoding_options(CLI::App& command, DecodingOptions& o, const std::set<std::string>& without) {
  command.add_option("--model", o.model, "model file")->required();
  Fields options = fields(o.translate);
  std::erase_if(options, [&](const Field& field) { return without.contains(field.option.name); });
  add_options(command, options, "translate");
  command.add_option("--batch-tokens", o.batch_tokens, "source tokens per batch")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--threads", o.threads, "threads")->check(CLI::Range(1, 256))->capture_default_str();
  command.parse_complete_callback([&command, &o] {
    if (command.count("--beam-size") > 0) refuse_beam_with_sampling(o.translate, Naming::snake);
  });
}

}  // namespace wasmformer
