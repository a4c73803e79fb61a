#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "exchange/marian/marian_bin.h"
#include "tasks/translate/translate_task.h"
#include "tasks/translate/word_alignment.h"

namespace wasmformer {
namespace {

struct ShortlistArguments {
  std::string model, output, lexicon;
  ParallelTextOptions text;
  ShortlistOptions shortlist;
};

Shortlist shortlist_of(const ModelFile& model, const ShortlistArguments& o) {
  const Config& c = model.transformer->config();
  const Tokenizer &source = *model.source_tokenizer, &target = *model.target_tokenizer;
  if (o.lexicon.empty()) {
    const ParallelText text = read_parallel_text(o.text);
    const Corpus corpus = tokenize_corpus(text.sources, text.targets, source, target, c);
    return make_shortlist(corpus, c.source_vocab_size, c.target_vocab_size, o.shortlist);
  }
  const std::string bytes = read_file(o.lexicon);
  if (!is_marian_shortlist(bytes)) return parse_lexicon(bytes, o.lexicon, source, target, o.shortlist);
  const Index begin = c.begins_after_vocabulary();
  return naming(o.lexicon, [&] {
    return parse_marian_shortlist(bytes, c.source_vocab_size - begin, c.target_vocab_size - begin);
  });
}

void add_shortlist(const ShortlistArguments& o) {
  ModelFile model = load_model(o.model);
  WASMFORMER_CHECK(translate_task().trains(model.transformer->config()), ErrorCode::shortlist,
                   "only translators can have a shortlist");
  model.shortlist = shortlist_of(model, o);
  write_file_atomically(o.output, serialize_model(model, float_precision(model.precision)));
  print_formatted("%zu candidates for %zu source pieces\n", model.shortlist->ids.size(),
                  model.shortlist->offsets.size() - 1);
}

}  // namespace

void add_shortlist_command(CLI::App& app) {
  auto o = std::make_shared<ShortlistArguments>();
  auto* command =
      app.add_subcommand("shortlist", "Store in a model which target pieces may translate each source piece");
  add_model(*command, o->model);
  command->add_option("--output", o->output, "the model file to write")->required()->type_name("FILE");
  add_parallel_text(*command, o->text, "--target");
  command
      ->add_option("--lexicon", o->lexicon,
                   "a Marian lexicon instead: binary, or lines of \"target source probability\"")
      ->excludes("--data", "--source", "--target")
      ->type_name("FILE");
  add_options(*command, fields(o->shortlist), "shortlist");
  add_examples(*command, {"wasmformer shortlist de-en.safetensors --data train.tsv \\", "    --output fast.safetensors",
                          "wasmformer shortlist de-en.safetensors --source news.de --target news.en \\",
                          "    --best 30 --output fast.safetensors"});
  command->callback([o] { add_shortlist(*o); });
}

}  // namespace wasmformer
