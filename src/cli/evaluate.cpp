#include "tasks/translate/evaluate.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/annotate.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "text/metrics/copies.h"
#include "text/metrics/lengths.h"

namespace wasmformer {
namespace {

struct EvaluateArguments {
  DecodingOptions decoding;
  ParallelTextOptions text;
  AnnotatedFiles labelled;
  AnnotateOptions annotate;
  std::string output, bleu_tokenize;
  bool lowercase = false, json = false, by_length = false;
};

struct Detail {
  double length_ratio = 0;
  CopyRate copies;
  std::vector<LengthScore> by_length;
};

// The share of names or numbers copied, of those that source and reference share.
double percent(std::size_t copied, std::size_t all) {
  return all == 0 ? 100 : 100 * static_cast<double>(copied) / static_cast<double>(all);
}

std::string range(const LengthScore& score) {
  return std::to_string(score.from) + (score.to == 0 ? " and more" : " to " + std::to_string(score.to));
}

void add_to(nlohmann::ordered_json& json, const Detail& d) {
  json["length_ratio"] = d.length_ratio;
  json["names"] = {{"all", d.copies.names}, {"copied", d.copies.copied_names}};
  json["numbers"] = {{"all", d.copies.numbers}, {"copied", d.copies.copied_numbers}};
  for (const LengthScore& s : d.by_length)
    json["by_length"].push_back({{"words", range(s)},
                                 {"sentences", s.sentences},
                                 {"bleu", s.bleu},
                                 {"chrf", s.chrf},
                                 {"length_ratio", s.length_ratio}});
}

void print_detail(const Detail& d) {
  print_formatted("length %.3f of the references'; copied: %zu of %zu names (%.1f %%), %zu of %zu numbers (%.1f %%)\n",
                  d.length_ratio, d.copies.copied_names, d.copies.names, percent(d.copies.copied_names, d.copies.names),
                  d.copies.copied_numbers, d.copies.numbers, percent(d.copies.copied_numbers, d.copies.numbers));
  if (!d.by_length.empty()) print_formatted("source words  sentences   BLEU  chrF2  length\n");
  for (const LengthScore& s : d.by_length)
    print_formatted("%-12s  %9zu  %5.2f  %5.2f  %6.3f\n", range(s).c_str(), s.sentences, s.bleu, s.chrf,
                    s.length_ratio);
}

// Signature of a score. It names the kinds of text that were copied, since they change the score.
std::string signature(const BleuOptions& words, const KeepNames& kept) {
  std::string names;
  for (const KeepName name : kept) names += (names.empty() ? "|keep:" : ",") + word(name);
  return bleu_signature(words) + names;
}

void run(const EvaluateArguments& o) {
  if (o.labelled.any())
    return evaluate_annotations(o.decoding.model, o.labelled, o.annotate, o.decoding.batch_tokens, o.decoding.threads,
                                o.json);
  std::optional<FileWriter> output;  // opened at once, so that a file that cannot be written is known at the beginning
  if (!o.output.empty()) output.emplace(o.output);
  const ModelFile model = load_model(o.decoding.model, Weights::packed);
  const ParallelText text = read_parallel_text(o.text);
  ThreadPool pool(o.decoding.threads);
  ProgressOf progress("translated");
  const auto start = std::chrono::steady_clock::now();
  const BleuOptions words{
      .lowercase = o.lowercase,
      .tokenizer = o.bleu_tokenize.empty() ? evaluation_tokenizer(model) : bleu_tokenizer(o.bleu_tokenize)};
  EvaluationJob job(model, pool, text.sources, text.targets, o.decoding.translate, o.decoding.batch_tokens, words);
  finish(job, [&](std::size_t done) {
    progress.update(static_cast<double>(done) / static_cast<double>(text.sources.size()),
                    std::to_string(done) + " of " + std::to_string(text.sources.size()));
  });
  progress.erase();
  const Evaluation result = job.result();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Detail detail{length_ratio(result.hypotheses, text.targets, words),
                copy_rate(text.sources, result.hypotheses, text.targets),
                {}};
  if (o.by_length) detail.by_length = scores_by_length(text.sources, result.hypotheses, text.targets, words);
  const double rate = static_cast<double>(result.target_tokens) / seconds;
  if (o.json) {
    nlohmann::ordered_json json{{"bleu", result.bleu},
                                {"bleu_signature", signature(words, kept_names(model, o.decoding.translate))},
                                {"chrf", result.chrf},
                                {"exact_match", result.exact_match},
                                {"sentences", text.sources.size()},
                                {"target_tokens", result.target_tokens},
                                {"seconds", seconds},
                                {"tokens_per_second", rate},
                                {"beam_size", o.decoding.translate.beam_size},
                                {"length_penalty", length_penalty(model, o.decoding.translate)}};
    add_to(json, detail);
    print_formatted("%s\n", json.dump(2).c_str());
  } else {
    print_formatted("BLEU %.2f (%s)\nchrF2 %.2f\n%zu sentences, %ld target tokens in %.1f s, %.0f tokens/s\n",
                    result.bleu, signature(words, kept_names(model, o.decoding.translate)).c_str(), result.chrf,
                    text.sources.size(), static_cast<long>(result.target_tokens), seconds, rate);
    print_detail(detail);
  }
  if (!output) return;
  for (const std::string& hypothesis : result.hypotheses) output->write(hypothesis + "\n");
  output->commit();
}

}  // namespace

void add_evaluate_command(CLI::App& app) {
  auto o = std::make_shared<EvaluateArguments>();
  auto* command = app.add_subcommand(
      "evaluate", "Compare with references (BLEU and chrF2), or with labels and tags (accuracy and F1)");
  add_decoding_options(*command, o->decoding, /*without=*/{"n_best"});
  add_parallel_text(*command, o->text, "--reference");
  auto* labels = command->add_option("--labels", o->labelled.labels, "for a classifier: lines of LABEL TAB TEXT")
                     ->type_name("FILE");
  auto* tags = command
                   ->add_option("--tags", o->labelled.tags,
                                "for a tagger: lines of TOKEN TAB TAG, an empty line after a sentence")
                   ->type_name("FILE");
  command->add_flag("--encoder-alone", o->annotate.encoder_alone,
                    "leave out the scores of words that stand beside the encoder of a classifier or tagger");
  command->add_option("--output", o->output, "write the translations to this file")->type_name("FILE");
  command
      ->add_option("--bleu-tokenize", o->bleu_tokenize,
                   "how BLEU splits words: 13a, zh, char or none; the default is zh for models into zh, else 13a")
      ->check(CLI::IsMember({"13a", "zh", "char", "none"}));
  command->add_flag("--lowercase", o->lowercase, "compute BLEU without case");
  command->add_flag("--by-length", o->by_length, "also print the scores by length of the source");
  command->add_flag("--json", o->json, "print one JSON object");
  group_options(*command, {{"Model", {"--model"}},
                           {"Translators", {"--source", "--reference", "--data", "--columns", "--output"}},
                           {"Classifiers and taggers", {"--labels", "--tags", "--encoder-alone"}},
                           {"Scores", {"--bleu-tokenize", "--lowercase", "--by-length", "--json"}}});
  add_examples(*command, {"wasmformer evaluate de-en.safetensors --data test.tsv --columns 1,0",
                          "wasmformer evaluate de-en.safetensors --source news.de --reference news.en \\",
                          "    --beam-size 1 --json"});
  // Options that a classifier or tagger would ignore are refused.
  for (CLI::Option* option : command->get_options([](const CLI::Option* option) {
         const std::string name = option->get_single_name();
         return name != "help" && name != "model" && name != "labels" && name != "tags" && name != "batch-tokens" &&
                name != "threads" && name != "json" && name != "encoder-alone";
       })) {
    labels->excludes(option);
    tags->excludes(option);
  }
  command->callback([o] { run(*o); });
}

}  // namespace wasmformer
