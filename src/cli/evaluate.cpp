#include "decode/evaluate.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/decoding_options.h"
#include "cli/files.h"
#include "cli/parallel_text.h"
#include "cli/progress.h"

namespace wasmformer {
namespace {

struct Options {
  DecodingOptions decoding;
  ParallelTextOptions text;
  std::string output, bleu_tokenize;
  bool lowercase = false, json = false;
};

void run(const Options& o) {
  const ModelFile model = load_model(o.decoding.model, Weights::packed);
  const ParallelText text = read_parallel_text(o.text);
  ThreadPool pool(o.decoding.threads);
  ProgressLine line;
  const auto start = std::chrono::steady_clock::now();
  Evaluation result =
      evaluate(model, pool, text.sources, text.targets, o.decoding.translate, o.decoding.batch_tokens,
               [&](std::size_t done) {
                 line.update(static_cast<double>(done) / static_cast<double>(text.sources.size()),
                             std::to_string(done) + " of " + std::to_string(text.sources.size()));
               });
  const BleuOptions words{
      .lowercase = o.lowercase,
      .tokenizer = o.bleu_tokenize.empty() ? evaluation_tokenizer(model) : bleu_tokenizer(o.bleu_tokenize)};
  result.bleu = bleu(result.hypotheses, text.targets, words);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!o.output.empty()) {
    std::string lines;
    for (const std::string& hypothesis : result.hypotheses) lines += hypothesis + "\n";
    write_file_atomically(o.output, lines);
  }
  const double rate = static_cast<double>(result.target_tokens) / seconds;
  if (o.json) {
    const nlohmann::ordered_json json{{"bleu", result.bleu},
                                      {"bleu_signature", bleu_signature(words)},
                                      {"chrf", result.chrf},
                                      {"exact_match", result.exact_match},
                                      {"sentences", text.sources.size()},
                                      {"target_tokens", result.target_tokens},
                                      {"seconds", seconds},
                                      {"tokens_per_second", rate},
                                      {"beam_size", o.decoding.translate.beam_size},
                                      {"length_penalty", o.decoding.translate.length_penalty}};
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    std::printf("BLEU %.2f (%s)\nchrF2 %.2f\n%zu sentences, %ld target tokens in %.1f s, %.0f tokens/s\n",
                result.bleu, bleu_signature(words).c_str(), result.chrf, text.sources.size(),
                static_cast<long>(result.target_tokens), seconds, rate);
  }
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
  auto o = std::make_shared<Options>();
  auto* command = app.add_subcommand("evaluate", "Translate and compare with references: BLEU and chrF2");
  add_decoding_options(*command, o->decoding);
  command->add_option("--source", o->text.source, "sentences, one a line");
  command->add_option("--reference", o->text.target, "their translations");
  command->add_option("--data", o->text.tsv, "a TSV file of pairs instead of the two");
  command->add_option("--columns", o->text.columns, "SOURCE,TARGET columns of --data, from 0")
      ->capture_default_str();
  command->add_option("--output", o->output, "write the translations to this file");
  command
      ->add_option(
          "--bleu-tokenize", o->bleu_tokenize,
          "what BLEU takes for words: 13a, zh, char or none; zh where the model's target is zh, else 13a")
      ->check(CLI::IsMember({"13a", "zh", "char", "none"}));
  command->add_flag("--lowercase", o->lowercase, "BLEU of texts in small letters");
  command->add_flag("--json", o->json, "print one JSON object");
  command->callback([o] { run(*o); });
}

}  // namespace wasmformer
