#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "decode/translator.h"
#include "train/run.h"

namespace wasmformer {
namespace {

struct Options {
  DecodingOptions decoding;
  std::string input = "-", attention;
  bool scores = false;
};

nlohmann::json attention_of(const Translation& t) {
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
    entry["encoder"] = attention_json(t.attention->encoder);
    entry["decoder"] = attention_json(t.attention->decoder);
    entry["cross"] = attention_json(t.attention->cross);
  }
  return entry;
}

// Translates line after line, a part of the input at a time, so that any input fits in memory.
class Run {
 public:
  explicit Run(const Options& options)
      : o_(options),
        model_(load_model(options.decoding.model, Weights::packed)),
        pool_(options.decoding.threads),
        input_(options.input) {
    if (!o_.attention.empty()) attention_.emplace(o_.attention);
  }

  void operator()() {
    checked(o_.decoding.translate, model_.transformer->config());  // even if there is no line
    while (read_part()) translate_part();
    if (attention_) {
      attention_->write(lines_ == 0 ? "[]\n" : "]\n");
      attention_->commit();
    }
    WASMFORMER_CHECK(too_long_ == 0, "[translate] " << too_long_ << " of " << lines_ << " lines "
                                                    << (too_long_ == 1 ? "is" : "are")
                                                    << " too long for the model and left empty");
  }

 private:
  // Reads what keeps several batches busy, or all that has arrived so far. False at the end of the input.
  bool read_part() {
    const TranslateOptions& options = o_.decoding.translate;
    const std::size_t most_lines = attention_ ? 64 : static_cast<std::size_t>(4096 / options.n_best),
                      most_bytes = 32 * static_cast<std::size_t>(o_.decoding.batch_tokens);
    part_ = input_.next_part(most_lines, most_bytes);
    return !part_.empty();
  }

  void translate_part() {
    BatchedTranslation translation(model_, pool_, part_, o_.decoding.translate, o_.decoding.batch_tokens, lines_);
    for (const auto& [text, tokens] : translation.too_long())
      progress_.print("line " + std::to_string(lines_ + text + 1) + " has " + std::to_string(tokens) +
                      " tokens; the model takes at most " + std::to_string(model_.transformer->config().max_length) +
                      "; its translation is empty");
    too_long_ += translation.too_long().size();
    finish(translation, [&](std::size_t done) { progress_.update(-1, std::to_string(lines_ + done) + " lines"); });
    std::string text;
    for (const Translation& t : translation.take()) {
      add_lines(t, text);
      if (attention_) attention_->write((lines_ == 0 ? "[" : ",") + attention_of(t).dump());
      ++lines_;
    }
    progress_.erase();
    print(text);
  }

  void add_lines(const Translation& t, std::string& text) const {
    if (o_.decoding.translate.n_best == 1) {
      text += (o_.scores ? fixed(t.score, 4) + "\t" : "") + t.text + "\n";
      return;
    }
    const auto add = [&](const Hypothesis& h) {
      text += std::to_string(lines_) + " ||| " + h.text + " ||| " + fixed(h.score, 4) + "\n";
    };
    add(t);
    for (const Hypothesis& h : t.alternatives) add(h);
  }

  const Options& o_;
  ModelFile model_;
  ThreadPool pool_;
  LineReader input_;
  std::optional<FileWriter> attention_;
  ProgressLine progress_;
  std::vector<std::string> part_;
  std::size_t lines_ = 0, too_long_ = 0;  // before part_
};

}  // namespace

void add_translate_command(CLI::App& app) {
  auto o = std::make_shared<Options>();
  auto* command = app.add_subcommand("translate", "Translate sentences, one per line");
  command->footer(
      "Translations are printed in the order of the input: part by part, and at a pipe as soon as no "
      "further\n"
      "line has arrived. With --n-best above 1, lines are INPUT-NUMBER ||| TEXT ||| SCORE, where inputs are\n"
      "numbered from 0. A line that is too long for the model gets a warning and an empty translation, and "
      "the\n"
      "exit code is then 1.");
  add_decoding_options(*command, o->decoding, /*without=*/{});
  command->add_option("--input", o->input, "text file; - is standard input")->capture_default_str();
  command->add_flag("--scores", o->scores, "print SCORE TAB TEXT");
  command->add_option("--attention", o->attention, "write every attention map to this JSON file");
  command->callback([o] {
    o->decoding.translate.attention = !o->attention.empty();
    Run run(*o);
    run();
  });
}

}  // namespace wasmformer
