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
  command->add_option("--input", o->input, "text files, one sentence per line")->required();
  command->add_option("--vocab-size", o->tokenizer.vocab_size, "pieces, including the control tokens")
      ->required();
  command->add_option("--type", o->tokenizer.type, "bpe, unigram, char or word")->capture_default_str();
  command
      ->add_option(
          "--normalization", o->tokenizer.normalization,
          "nmt_nfkc (Unicode's compatibility form), identity, or a .tsv file of rules as in SentencePiece")
      ->capture_default_str();
  command
      ->add_option("--character-coverage", o->tokenizer.character_coverage,
                   "share of the text whose characters become pieces, the frequent ones first")
      ->capture_default_str();
  command->add_flag("--byte-fallback", o->tokenizer.byte_fallback,
                    "bpe, unigram: other characters become their bytes, which takes 256 pieces");
  command->add_flag("--split-digits", o->tokenizer.split_digits,
                    "bpe, unigram: every digit is a piece of its own");
  command->add_option("--output", o->output, "the .model file to write")->required();
  command->callback([o] {
    std::vector<std::string> sentences;
    for (const std::string& path : o->input)
      for (std::string& line : read_lines(path)) sentences.push_back(std::move(line));
    write_file_atomically(o->output, train_tokenizer(sentences, o->tokenizer));
  });
}

}  // namespace wasmformer
