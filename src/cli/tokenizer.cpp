#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/options.h"
#include "text/tokenizer_trainer.h"

namespace wasmformer {

void add_tokenizer_command(CLI::App& app) {
  struct Options {
    std::vector<std::string> input;
    std::string output;
    TokenizerOptions tokenizer;
  };
  auto o = std::make_shared<Options>();
  auto* command = app.add_subcommand("tokenizer", "Train a SentencePiece tokenizer");
  command->add_option("--input", o->input, "text files, one sentence per line")->required();
  add_options(*command, fields(o->tokenizer), "tokenizer");
  command->get_option("--vocab-size")->required();
  command->add_option("--output", o->output, "the .model file to write")->required();
  command->callback([o] {
    std::vector<std::string> sentences;
    for (const std::string& path : o->input)
      for (std::string& line : read_lines(path)) sentences.push_back(std::move(line));
    write_file_atomically(o->output, train_tokenizer(sentences, o->tokenizer));
  });
}

}  // namespace wasmformer
