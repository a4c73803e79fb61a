// Labeled and tagged texts: an encoder finds classes of whole texts, tags of words, or both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tasks/batches.h"
#include "text/metrics/labels.h"
#include "text/piece_splitter.h"
#include "text/split_words.h"
#include "wasmformer/training.h"

namespace wasmformer {

AnnotatedText tagged_text(std::vector<std::string> words, Labels tags);

class AnnotatedTexts : public Texts {
 public:
  struct Kind {
    bool has_classes = false, has_tags = false;
    bool commas_separate = false;  // the classes are as files write them, and with multi_label commas separate them
  };
  AnnotatedTexts() = default;
  AnnotatedTexts(std::vector<AnnotatedText> all, Kind kind) : all(std::move(all)), kind(kind) {}
  const Task& task() const override;
  std::size_t size() const override { return all.size(); }
  std::shared_ptr<Texts> select(std::span<const Index> which) const override;
  KnownText known(std::size_t i) const override { return {all[i].text, {}, all[i].words, all[i].classes, all[i].tags}; }
  std::vector<std::vector<std::string>> sides() const override;
  std::string to_json(std::size_t i) const override;
  void add_json(const JsonObject& text, const Config& config) override;
  void settle(const Config& config) override;

  std::vector<AnnotatedText> all;
  Kind kind;
};

// Lines of label, tab, text, as files write them. Throws Error naming `name` and the line.
std::vector<AnnotatedText> parse_labelled(std::string_view text, const std::string& name);
// CoNLL: lines whose first column is a token and whose last is its tag, with tabs or spaces between, and a blank line
// after each sentence. Comments, which begin with #, and -DOCSTART- are skipped. Throws Error, naming `name` and the
// line, when a token or its tag is missing or not UTF-8, and when the lines differ in their number of columns.
std::vector<AnnotatedText> parse_conll(std::string_view text, const std::string& name);
// The tagged texts with the classes of the labeled ones, line by line. Throws Error if they differ in number.
std::vector<AnnotatedText> labelled_and_tagged(const std::vector<AnnotatedText>& labelled,
                                               std::vector<AnnotatedText> tagged);

// The parts of a text between separators, without empty ones.
std::vector<std::string_view> split(std::string_view text, char separator);

// Throws Error, naming the text, for names of more than 200 bytes, and when a text has no class, several without
// multi_label, or another number of tags than of words.
void check_labels(const AnnotatedTexts& texts, bool multi_label);

// The names that occur, sorted. Throws Error as check_labels(), and when there is one class only.
LabelNames label_names(const AnnotatedTexts& texts, bool multi_label);

// The words of a text that is cut already, for tagging: split_words() in text/split_words.h cuts raw text.
std::vector<std::string_view> split_at_spaces(std::string_view text);

// Tokens of `words`, from word `first`, as many as max_length allows, with the end token and, if the config says so, a
// begin token. `at`: index of each word's first token, which carries its tag.
struct WordTokens {
  std::vector<TokenId> ids;
  std::vector<Index> at;
};
WordTokens tokenize_words(const ModelFile& model, const std::vector<std::string_view>& words, std::size_t first = 0);
// The same for a whole text, which is cut at max_length tokens.
struct TextTokens {
  std::vector<TokenId> ids;
  bool is_truncated = false;
};
TextTokens tokenize_text(const ModelFile& model, const std::string& text);

struct AnnotatedExample {
  std::vector<TokenId> source;  // with the end token
  std::vector<TokenId> tags;
  std::vector<Index> words;  // index of the first token of each word with these tags
  std::vector<TokenId> classes;
};

// A text that is too long is cut, one with an unknown class left out, a word with an unknown tag not used.
struct AnnotatedExamples : EncoderExamples<AnnotatedExample> {
  using Example = AnnotatedExample;

  Sides tokens(Index i) const override;
  void check(const TrainingConfig&) const override {}
  std::uint64_t fingerprint() const override;
  std::unique_ptr<TaskBatch> pack(std::span<const Index> which, Transformer& transformer,
                                  const TrainingConfig& training) const override;
  double guessing_loss(const Config& config, const TrainingConfig& training) const override;

  std::shared_ptr<const PieceSplitter> splitter;  // with bpe_dropout
};
AnnotatedExamples annotated_examples(const std::vector<AnnotatedText>& texts, const ModelFile& model);

const Task& annotate_task();

}  // namespace wasmformer
