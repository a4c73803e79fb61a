#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/files.h"
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
  command->add_option("--input", o->input, "text files, one sentence a line")->required();
  command->add_option("--vocab-size", o->tokenizer.vocab_size, "pieces, control tokens counted")->required();
  command->add_option("--type", o->tokenizer.type, "bpe, unigram, char or word")->capture_default_str();
  command->add_option("--normalization", o->tokenizer.normalization,
                      "nmt_nfkc (Unicode's compatibility form), or identity")->capture_default_str();
  command->add_option("--output", o->output, "the .model file to write")->required();
  command->callback([o] {
    std::vector<std::string> sentences;
    for (const std::string& path : o->input)
      for (std::string& line : read_lines(path)) sentences.push_back(std::move(line));
    write_file_atomically(o->output, train_tokenizer(sentences, o->tokenizer));
  });
}

}  // namespace wasmformer
