#include "text/tokenizer_trainer.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>
#include <unordered_map>

#include "schema/error.h"
#include "text/tokenizer.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

using Arguments = std::unordered_map<std::string, std::string>;

// spm_train skips longer texts, and those with the character that it reserves.
constexpr std::size_t longest_text = 4192;  // bytes
constexpr std::string_view reserved_character = "\xE2\x96\x85";

// Cuts a text that is too long: at its last space that leaves a part short enough, or between characters.
std::size_t end_of_part(std::string_view text) {
  const std::size_t space = text.rfind(' ', longest_text);
  if (space != text.npos && space > 0) return space;
  const auto is_inside_character = [text](std::size_t at) { return (text[at] & 0xC0) == 0x80; };
  std::size_t end = longest_text;
  while (is_inside_character(end)) --end;
  return end;
}

// Takes the first part that spm_train does not skip from the beginning of a text.
std::string take_part(std::string_view& text) {
  const std::size_t reserved = text.find(reserved_character);
  std::size_t end = std::min(reserved, text.size());
  const bool is_too_long = end > longest_text;
  if (is_too_long) end = end_of_part(text);
  std::string part(text.substr(0, end));
  text.remove_prefix(end);
  if (!is_too_long && reserved != text.npos) text.remove_prefix(reserved_character.size());
  return part;
}

// Tells a training's caller how many pieces there are.
class PieceCounter {
 public:
  explicit PieceCounter(const std::function<void(double)>& learns) : learns_(learns) {}
  // BPE adds pieces one by one; unigram removes a share of them again and again.
  void update(double pieces, double wanted) {
    if (!learns_ || pieces <= 0 || wanted <= 0) return;
    if (first_ == 0) first_ = pieces;
    const double share = first_ > wanted ? std::log(first_ / pieces) / std::log(first_ / wanted) : pieces / wanted;
    learns_(std::clamp(share, 0.0, 1.0));
  }

 private:
  const std::function<void(double)>& learns_;
  double first_ = 0;  // pieces at the first call
};

// SentencePiece's trainers call a plain function; this is whom it tells.
thread_local PieceCounter* piece_counter = nullptr;

// The sentences, those that are too long in parts, without the reserved character.
class Sentences : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string>& sentences, const std::function<void(double)>& loads = {})
      : sentences_(sentences), loads_(loads) {
    Next();
  }
  bool done() const override { return is_done_; }
  void Next() override {
    while (rest_.empty() && next_ < sentences_.size()) rest_ = sentences_[next_++];
    is_done_ = rest_.empty();
    if (!is_done_) part_ = take_part(rest_);
    constexpr std::size_t between_updates = 1000;
    if (loads_ && next_ % between_updates == 0)
      loads_(static_cast<double>(next_) / static_cast<double>(sentences_.size()));
  }
  const std::string& value() const override { return part_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& sentences_;
  std::function<void(double)> loads_;
  std::size_t next_ = 0;
  std::string_view rest_;  // of the sentence before the next one
  std::string part_;
  bool is_done_ = false;
};

bool is_rules_file(const TokenizerOptions& options) { return options.normalization.ends_with(".tsv"); }

std::string run(const std::vector<std::string>& sentences, const TokenizerOptions& options,
                const TokenizerProgress& progress = {}) {
  const bool has_pieces = options.type == "bpe" || options.type == "unigram";
  const auto flag = [has_pieces](bool wanted) { return has_pieces && wanted ? "true" : "false"; };
  Arguments arguments = {
      {"model_type", options.type},
      {"vocab_size", std::to_string(options.vocab_size)},
      {"character_coverage", std::to_string(options.character_coverage)},
      {"byte_fallback", flag(options.byte_fallback)},
      {"split_digits", flag(options.split_digits)},
      {"hard_vocab_limit", options.hard_vocab_limit ? "true" : "false"},
      {is_rules_file(options) ? "normalization_rule_tsv" : "normalization_rule_name", options.normalization},
      {"max_sentence_length", std::to_string(longest_text)},
      {"pad_id", "0"},
      {"unk_id", "1"},
      {"bos_id", "2"},
      {"eos_id", "3"},
      {"num_threads", "1"},  // the same model on every machine
      {"minloglevel", "2"}};
  if (!options.symbols.empty()) arguments["user_defined_symbols"] = options.symbols;
  Sentences iterator(sentences, progress.loads);
  PieceCounter counter(progress.learns);
  piece_counter = &counter;
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(arguments, &iterator, &model);
  piece_counter = nullptr;
  // The library reports the sizes that it allows in its message alone, which begins with its own file,
  // line and condition, in brackets, and may end with advice on options.
  const std::string text = status.ToString();
  const std::size_t bracket = text.rfind("] ");
  const std::string sentence = bracket == std::string::npos ? text : text.substr(bracket + 2);
  const std::size_t limit = sentence.find("<= ");
  const int most = limit == std::string::npos ? 0 : std::atoi(sentence.c_str() + limit + 3);
  WASMFORMER_CHECK(
      status.ok() || limit == std::string::npos, ErrorCode::vocabulary_too_large,
      "vocab_size is " << options.vocab_size << ", too high for this text; it can be " << most << " at most",
      {"size", options.vocab_size}, {"most", most});
  const std::size_t required = sentence.find("smaller than required_chars. ");
  const std::size_t versus = sentence.find(" vs ", std::min(required, sentence.size()));
  const bool is_too_small = required != std::string::npos && versus != std::string::npos;
  const int least = is_too_small ? std::atoi(sentence.c_str() + versus + 4) : 0;
  WASMFORMER_CHECK(status.ok() || !is_too_small, ErrorCode::vocabulary_too_small,
                   "vocab_size is " << options.vocab_size
                                    << ", but the characters of this text and the control tokens alone are " << least
                                    << " pieces; choose a larger one",
                   {"size", options.vocab_size}, {"least", least});
  WASMFORMER_CHECK(status.ok(), ErrorCode::tokenizer, sentence.substr(0, sentence.find(" Increase vocab_size")));
  return model;
}

// The trainer aborts if normalization leaves no text, so check that first.
bool has_text(const std::vector<std::string>& sentences, const std::string& normalization) {
  TokenizerOptions options;
  options.vocab_size = 100;
  options.type = "char";
  options.normalization = normalization;
  const Tokenizer probe(run({"a"}, options));
  for (Sentences parts(sentences); !parts.done(); parts.Next())
    if (!probe.encode(parts.value()).empty()) return true;
  return false;
}

// Throws Error for symbols that are there twice or are control tokens.
void check_symbols(const std::string& symbols) {
  std::set<std::string> known{"<pad>", "<unk>", "<s>", "</s>"};
  for (std::size_t begin = 0; begin < symbols.size();) {
    const std::size_t end = std::min(symbols.find(',', begin), symbols.size());
    const std::string symbol = symbols.substr(begin, end - begin);
    WASMFORMER_CHECK(known.insert(symbol).second, ErrorCode::tokenizer,
                     "symbols has " << symbol << " twice, or it is a control token");
    begin = end + 1;
  }
}

}  // namespace

// Declared in the changed sources of SentencePiece, see dependencies.cmake.
void show_progress_of_trainer(double pieces, double wanted);
void show_progress_of_trainer(double pieces, double wanted) {
  if (piece_counter) piece_counter->update(pieces, wanted);
}

std::string train_tokenizer(const std::vector<std::string>& sentences, const TokenizerOptions& options,
                            const TokenizerProgress& progress) {
  WASMFORMER_CHECK((std::set<std::string>{"bpe", "unigram", "char", "word"}.count(options.type)), ErrorCode::tokenizer,
                   "type '" << options.type << "' is not one of bpe, unigram, char and word");
  WASMFORMER_CHECK(options.normalization == "nmt_nfkc" || options.normalization == "identity" || is_rules_file(options),
                   ErrorCode::tokenizer,
                   "normalization '" << options.normalization << "' is not nmt_nfkc, identity or a .tsv file");
  constexpr double least_coverage = 0.98;  // of SentencePiece
  WASMFORMER_CHECK(
      options.character_coverage >= least_coverage && options.character_coverage <= 1, ErrorCode::tokenizer,
      "character_coverage is " << options.character_coverage << "; it must be from " << least_coverage << " to 1");
  check_symbols(options.symbols);
  // Four ids are taken by pad, unk, bos and eos.
  WASMFORMER_CHECK(options.vocab_size > 4 && options.vocab_size <= 1 << 20, ErrorCode::tokenizer,
                   "vocab_size is " << options.vocab_size << "; it must be from 5 to " << (1 << 20));
  for (std::size_t i = 0; i < sentences.size(); ++i)
    WASMFORMER_CHECK(is_utf8(sentences[i]), ErrorCode::tokenizer, "sentence " << i + 1 << " is not UTF-8");
  WASMFORMER_CHECK(has_text(sentences, options.normalization), ErrorCode::no_text, "there is no text to learn from");
  return run(sentences, options, progress);
}

}  // namespace wasmformer
