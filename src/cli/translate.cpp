#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/decoding_options.h"
#include "cli/files.h"
#include "cli/progress.h"

namespace wasmformer {
namespace {

struct Options {
  DecodingOptions decoding;
  std::string input = "-", attention;
  bool scores = false;
};

nlohmann::json to_json(const AttentionMaps& maps) {
  return {{"layers", maps.layers},
          {"heads", maps.heads},
          {"rows", maps.rows},
          {"columns", maps.columns},
          {"data", maps.data}};
}

nlohmann::json attention_json(const Translation& t) {
  nlohmann::json entry{{"text", t.text},
                       {"source_tokens", nlohmann::json::array()},
                       {"target_tokens", nlohmann::json::array()}};
  for (const Candidate& token : t.source_tokens) entry["source_tokens"].push_back(token.piece);
  for (const TargetToken& token : t.tokens) entry["target_tokens"].push_back(token.piece);
  if (t.cross) {
    entry["encoder"] = to_json(*t.encoder);
    entry["decoder"] = to_json(*t.decoder);
    entry["cross"] = to_json(*t.cross);
  }
  return entry;
}

void print(const Hypothesis& h, bool scores) {
  if (scores) std::printf("%.4f\t", h.score);
  std::printf("%s\n", h.text.c_str());
}

void translate(Options& o) {
  const ModelFile model = load_model(o.decoding.model, Weights::packed);
  const std::vector<std::string> texts = read_lines(o.input);
  o.decoding.translate.attention = !o.attention.empty();
  ThreadPool pool(o.decoding.threads);
  ProgressLine line;
  const auto translations = translate_in_batches(
      model, pool, texts, o.decoding.translate, o.decoding.batch_tokens, [&](std::size_t done) {
        line.update(static_cast<double>(done) / static_cast<double>(texts.size()),
                    std::to_string(done) + " of " + std::to_string(texts.size()));
      });
  nlohmann::json attention = nlohmann::json::array();
  for (const Translation& t : translations) {
    print(t, o.scores);
    for (const Hypothesis& h : t.alternatives) print(h, o.scores);
    if (!o.attention.empty()) attention.push_back(attention_json(t));
  }
  if (!o.attention.empty()) write_file_atomically(o.attention, attention.dump() + "\n");
}

}  // namespace

void add_translate_command(CLI::App& app) {
  auto o = std::make_shared<Options>();
  auto* command = app.add_subcommand("translate", "Translate sentences, one a line");
  add_decoding_options(*command, o->decoding);
  command->add_option("--input", o->input, "text file; - is standard input")->capture_default_str();
  command->add_option("--n-best", o->decoding.translate.n_best, "hypotheses a sentence, best first")
      ->capture_default_str();
  command->add_flag("--scores", o->scores, "print SCORE TAB TEXT");
  command->add_option("--attention", o->attention, "write every attention map to this JSON file");
  command->callback([o] { translate(*o); });
}

}  // namespace wasmformer
