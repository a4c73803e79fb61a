#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

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
  std::string prefix;
  std::vector<std::string> masked_heads;
  Sampling sampling;
};

// "cross:0:3": attention, layer, head.
AttentionHead attention_head(const std::string& text) {
  const std::map<std::string, AttentionHead::Kind> kinds{{"encoder", AttentionHead::encoder},
                                                         {"decoder", AttentionHead::decoder},
                                                         {"cross", AttentionHead::cross}};
  const std::regex form("([a-z]+):([0-9]{1,4}):([0-9]{1,4})");
  std::smatch parts;
  const bool matches = std::regex_match(text, parts, form);
  const auto kind = matches ? kinds.find(parts[1]) : kinds.end();
  WASMFORMER_CHECK(kind != kinds.end(), "[options] '"
                                            << text
                                            << "' is not ATTENTION:LAYER:HEAD, such as cross:0:3, of "
                                               "encoder, decoder or cross");
  return {kind->second, std::stol(parts[2]), std::stol(parts[3])};
}

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
                       {"target_tokens", nlohmann::json::array()},
                       {"log_probabilities", nlohmann::json::array()}};  // of the target tokens
  for (const SourceToken& token : t.source_tokens) entry["source_tokens"].push_back(token.piece);
  for (const TargetToken& token : t.tokens) {
    entry["target_tokens"].push_back(token.piece);
    entry["log_probabilities"].push_back(token.log_probability);
  }
  if (t.attention) {
    entry["encoder"] = to_json(t.attention->encoder);
    entry["decoder"] = to_json(t.attention->decoder);
    entry["cross"] = to_json(t.attention->cross);
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
  o.decoding.translate.prefix = o.prefix;
  for (const std::string& head : o.masked_heads)
    o.decoding.translate.masked_heads.push_back(attention_head(head));
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
  command->add_option("--prefix", o->prefix, "every translation starts with this text");
  command
      ->add_option("--mask-source", o->decoding.translate.masked_source,
                   "source tokens that no attention looks at, such as 1,2, counted from 0")
      ->delimiter(',');
  command
      ->add_option("--mask-heads", o->masked_heads,
                   "attention heads whose output is dropped, such as cross:0:3,encoder:1:0")
      ->delimiter(',');
  const std::vector<CLI::Option*> sampling{
      command->add_option("--temperature", o->sampling.temperature, "draw tokens, at this temperature"),
      command->add_option("--top-k", o->sampling.top_k, "draw from the K most probable tokens; 0: all"),
      command->add_option("--top-p", o->sampling.top_p, "draw from the most probable that together reach P"),
      command->add_option("--sample-seed", o->sampling.seed, "the same seed draws the same tokens")};
  const CLI::Option* beam_size = command->get_option("--beam-size");
  command->callback([o, sampling, beam_size] {
    TranslateOptions& t = o->decoding.translate;
    if (std::any_of(sampling.begin(), sampling.end(), [](const CLI::Option* s) { return s->count() > 0; })) {
      t.sampling = o->sampling;
      if (beam_size->count() == 0) t.beam_size = 1;
    }
    translate(*o);
  });
}

}  // namespace wasmformer
