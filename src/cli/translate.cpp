#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/attention_file.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "tasks/translate/translator.h"
#include "train/training_run.h"

namespace wasmformer {
namespace {

struct TranslateArguments {
  DecodingOptions decoding;
  std::string input = "-", attention;
  bool scores = false;
};

nlohmann::json attention_of(const Translation& t) {
  const nlohmann::json none = nlohmann::json::array();
  nlohmann::json entry{{"text", t.text}, {"source_tokens", none}, {"target_tokens", none}, {"log_probabilities", none}};
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

// Translates the input in parts, so that input of any size fits in memory. With several ranks, each takes its own
// parts; the first reads and writes.
class Run {
 public:
  explicit Run(const TranslateArguments& options)
      : o_(options), model_(load_model(options.decoding.model, Weights::packed)), pool_(options.decoding.threads) {
    if (!ranks_.is_first()) return;
    input_.emplace(o_.input, [this](std::size_t line) {
      progress_.warn("line " + std::to_string(line) + " is not UTF-8; its translation is empty");
      ++damaged_;
    });
    if (!o_.attention.empty()) attention_.emplace(o_.attention);
  }

  void operator()() {
    checked(o_.decoding.translate, model_.transformer->config());  // even if the input is empty
    WASMFORMER_CHECK(ranks_.size() == 1 || o_.attention.empty(), ErrorCode::translate,
                     "--attention needs a single rank");
    if (ranks_.is_first())
      translate_input();
    else
      translate_for_first();
    double too_long = static_cast<double>(too_long_);
    ranks_.sum({&too_long, 1});
    WASMFORMER_CHECK(too_long == 0 || !ranks_.is_first(), ErrorCode::translate,
                     too_long << " of " << lines_ << " lines " << (too_long == 1 ? "is" : "are")
                              << " too long for the model and left empty");
    check_damaged(damaged_, lines_);
  }

 private:
  void translate_input() {
    for (auto parts = read_parts(); !parts[0].empty(); parts = read_parts()) {
      // The other ranks translate their parts while this one translates its own.
      std::size_t next_line = lines_ + parts[0].size();
      for (int rank = 1; rank < ranks_.size(); ++rank) {
        send(parts[rank], next_line, rank);
        next_line += parts[rank].size();
      }
      print(translated(parts[0], lines_));
      for (int rank = 1; rank < ranks_.size(); ++rank) {
        if (!parts[rank].empty()) print(ranks_.receive(rank));
      }
      lines_ = next_line;
    }
    for (int rank = 1; rank < ranks_.size(); ++rank) ranks_.send(rank, "");
    if (attention_) attention_->commit();
  }

  // For each rank, lines for several batches, or whatever has arrived so far; no lines at the end of the input.
  std::vector<std::vector<std::string>> read_parts() {
    const TranslateOptions& options = o_.decoding.translate;
    // Maps grow with the square of a text, so that those of one batch are all that may wait in memory.
    const std::size_t max_lines = attention_ ? 64 : static_cast<std::size_t>(4096 / options.n_best),
                      max_bytes = (attention_ ? 1 : 32) * static_cast<std::size_t>(o_.decoding.batch_tokens);
    share_before_ = share_;
    std::vector<std::vector<std::string>> parts(static_cast<std::size_t>(ranks_.size()));
    for (auto& part : parts)
      if (&part == &parts[0] || input_->is_ready()) part = input_->next_part(max_lines, max_bytes);
    share_ = input_->share_read().value_or(-1);
    return parts;
  }

  // Sends NUMBER-OF-FIRST-LINE LF LINE LF LINE…
  void send(const std::vector<std::string>& part, std::size_t first, int rank) {
    if (part.empty()) return;
    std::string text = std::to_string(first);
    for (const std::string& line : part) text += "\n" + line;
    ranks_.send(rank, text);
  }

  void translate_for_first() {
    for (std::string text = ranks_.receive(0); !text.empty(); text = ranks_.receive(0)) {
      std::vector<std::string> part;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) part.push_back(line);
      if (text.ends_with("\n")) part.emplace_back();
      const std::size_t first = std::stoul(part[0]);
      part.erase(part.begin());
      ranks_.send(0, translated(part, first));
    }
  }

  // The output for the lines of `part`; `first` is the number of its first line.
  std::string translated(const std::vector<std::string>& part, std::size_t first) {
    BatchedTranslation translation(model_, pool_, part, o_.decoding.translate, o_.decoding.batch_tokens, first);
    for (const auto& [text, tokens] : translation.too_long())
      progress_.warn("line " + std::to_string(first + text + 1) + " has " + std::to_string(tokens) +
                     " tokens; the model takes at most " + std::to_string(model_.transformer->config().max_length) +
                     "; its translation is empty");
    too_long_ += translation.too_long().size();
    finish(translation, [&](std::size_t done) {
      if (ranks_.is_first()) show(first + done, static_cast<double>(done) / static_cast<double>(part.size()));
    });
    std::string output;
    for (const Translation& t : translation.take()) {
      add_lines(t, first, output);
      if (attention_) attention_->add(attention_of(t));
      ++first;
    }
    progress_.erase();
    return output;
  }

  // `share`: of this part. How many lines there will be is not known, but how much of a file is read.
  void show(std::size_t lines, double share) {
    const std::string text = std::to_string(lines) + " lines";
    if (share_ < 0) return progress_.update(-1, text);
    const double done = share_before_ + share * (share_ - share_before_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    progress_.update(done, text + ", " + percent(done) + time_left(seconds, done));
  }

  void add_lines(const Translation& t, std::size_t line, std::string& text) const {
    if (o_.decoding.translate.n_best == 1) {
      text += (o_.scores ? fixed(t.score, 4) + "\t" : "") + t.text + "\n";
      return;
    }
    const auto add = [&](const Hypothesis& h) {
      text += std::to_string(line) + " ||| " + h.text + " ||| " + fixed(h.score, 4) + "\n";
    };
    add(t);
    for (const Hypothesis& h : t.alternatives) add(h);
  }

  const TranslateArguments& o_;
  ModelFile model_;
  ThreadPool pool_;
  Communicator& ranks_ = ranks();
  std::optional<LineReader> input_;  // of the first rank
  std::optional<AttentionFile> attention_;
  ProgressLine progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double share_before_ = 0, share_ = 0;  // of the input: before and after the parts at work; share_ is -1 for a pipe
  std::size_t lines_ = 0;                // translated so far, by all ranks
  std::size_t too_long_ = 0;             // of this rank's
  std::size_t damaged_ = 0;              // of the first rank
};

}  // namespace

void add_translate_command(CLI::App& app) {
  auto o = std::make_shared<TranslateArguments>();
  auto* command = app.add_subcommand("translate", "Translate sentences, one per line");
  add_examples(
      *command,
      {"wasmformer translate de-en.safetensors --input news.de --threads 2 > news.en",
       "echo 'Wo ist mein Buch?' | wasmformer translate de-en.safetensors --n-best 3"},
      "Translations are printed in the order of the input, some lines at a time; from a pipe, as soon as no more lines "
      "are waiting. With --n-best above 1, lines are INPUT-NUMBER ||| TEXT ||| SCORE, where inputs are numbered from "
      "0. "
      "A line that is too long for the model or not UTF-8 gets a warning and an empty translation, and the exit code "
      "is then 1.");
  add_decoding_options(*command, o->decoding, /*without=*/{});
  command->add_option("--input", o->input, "text file; - is standard input")->capture_default_str()->type_name("FILE");
  command->add_flag("--scores", o->scores, "print SCORE TAB TEXT");
  add_attention(*command, o->attention, "every attention map");
  group_options(*command,
                {{"Text and model", {"--model", "--input"}}, {"Output", {"--scores", "--n-best", "--attention"}}});
  command->callback([o] {
    o->decoding.translate.attention = !o->attention.empty();
    Run run(*o);
    run();
  });
}

}  // namespace wasmformer
