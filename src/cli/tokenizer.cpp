#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "text/tokenizer_trainer.h"

namespace wasmformer {
namespace {

// The lines of all files, with the share of the one that is read.
std::vector<std::string> read_sentences(const std::vector<std::string>& files) {
  std::vector<std::string> sentences;
  for (const std::string& path : files) {
    ProgressOf progress("reading " + path + ":");
    LineReader reader(path);
    for (std::string line; reader.next(line); sentences.push_back(line)) {
      const auto share = progress.is_due() ? reader.share_read() : std::nullopt;
      if (share) progress.update(*share);
    }
  }
  return sentences;
}

}  // namespace

void add_tokenizer_command(CLI::App& app) {
  struct Options {
    std::vector<std::string> input;
    std::string output;
    TokenizerOptions tokenizer;
  };
  auto o = std::make_shared<Options>();
  auto* command = app.add_subcommand("tokenizer", "Train a SentencePiece tokenizer");
  command->add_option("--input", o->input, "text files, one sentence per line")->required()->type_name("FILE");
  add_options(*command, fields(o->tokenizer), "tokenizer");
  command->get_option("--vocab-size")->required();
  command->add_option("--output", o->output, "the .model file to write")->required()->type_name("FILE");
  group_options(
      *command,
      {{"Text", {"--input", "--character-coverage", "--normalization"}},
       {"Pieces", {"--vocab-size", "--hard-vocab-limit", "--type", "--symbols", "--byte-fallback", "--split-digits"}},
       {"Output", {"--output"}}});
  add_examples(*command, {"wasmformer tokenizer --input train.tsv --vocab-size 6000 --output tok.model",
                          "wasmformer tokenizer --input news.de news.en --type unigram \\",
                          "    --vocab-size 8000 --byte-fallback --output tok.model"});
  command->callback([o] {
    const std::vector<std::string> sentences = read_sentences(o->input);
    ProgressOf loading("loading sentences:"), learning("learning pieces:");
    const auto show = [](ProgressOf& progress) { return [&progress](double share) { progress.update(share); }; };
    const TokenizerProgress progress{.loads = show(loading), .learns = show(learning)};
    write_file_atomically(o->output, train_tokenizer(sentences, o->tokenizer, progress));
  });
}

}  // namespace wasmformer
