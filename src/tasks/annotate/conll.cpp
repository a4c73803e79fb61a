// Reading of tagged texts in the forms of CoNLL's shared tasks.
#include <algorithm>
#include <utility>

#include "schema/error.h"
#include "tasks/annotate/labels.h"
#include "tasks/translate/corpus.h"

namespace wasmformer {
namespace {

constexpr const char* document_mark = "-DOCSTART-";  // between the documents of CoNLL-2003

// Columns of a line, which tabs and spaces separate.
std::vector<std::string_view> columns_of(std::string_view line) {
  constexpr const char* separators = "\t ";
  std::vector<std::string_view> columns;
  for (std::size_t begin = line.find_first_not_of(separators); begin != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
    columns.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(separators, end);
  }
  return columns;
}

// The form of a file's lines, which tells comments from words that begin with #.
class Form {
 public:
  Form(std::string_view text, const std::string& name) {
    for_each_line(text, name, [&](std::string_view line, std::size_t) {
      const bool is_plain = !line.starts_with('#') && !line.starts_with(document_mark);
      if (!is_plain || count_ > 0) return;
      count_ = columns_of(line).size();
      has_tabs_ = line.find('\t') != line.npos;
    });
  }

  // 0 if no line tells.
  std::size_t count() const { return count_; }
  bool is_comment(std::string_view line, const std::vector<std::string_view>& columns) const {
    if (!line.starts_with('#') || count_ == 0) return false;
    const bool has_tabs = line.find('\t') != line.npos;
    const bool is_assignment = columns.size() > 2 && columns[0] == "#" && columns[2] == "=";  // # sent_id = 3
    return columns.size() != count_ || has_tabs != has_tabs_ || is_assignment;
  }

 private:
  std::size_t count_ = 0;
  bool has_tabs_ = false;
};

class Sentences {
 public:
  explicit Sentences(const std::string& name) : name_(name) {}

  void add(std::string_view word, std::string_view tag) {
    words_.emplace_back(word);
    tags_.emplace_back(tag);
  }
  // After line `number`. `columns`: of each line.
  void end(std::size_t number, std::size_t columns) {
    if (words_.empty()) return;
    WASMFORMER_CHECK(columns < 3 || !are_numbered(), ErrorCode::corpus,
                     "the sentence before line " << number << " of " << name_
                                                 << " has numbers where its words should be: the first column must "
                                                 << "be the word, the last its tag");
    texts_.push_back(tagged_text(std::exchange(words_, {}), std::exchange(tags_, {})));
  }
  std::vector<AnnotatedText> take() { return std::move(texts_); }

 private:
  // GermEval and CoNLL-U number the words of a sentence in the first column.
  bool are_numbered() const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (words_[i] != std::to_string(i + 1)) return false;
    return words_.size() > 1;
  }

  const std::string& name_;
  std::vector<std::string> words_;
  Labels tags_;
  std::vector<AnnotatedText> texts_;
};

}  // namespace

std::vector<AnnotatedText> parse_conll(std::string_view text, const std::string& name) {
  const Form form(text, name);
  Sentences sentences(name);
  std::size_t last = 0;
  for_each_line(text, name, [&](std::string_view line, std::size_t number) {
    last = number;
    const std::vector<std::string_view> columns = columns_of(line);
    if (columns.empty() || columns[0] == document_mark) return sentences.end(number, form.count());
    if (form.is_comment(line, columns)) return;
    WASMFORMER_CHECK(columns.size() > 1, ErrorCode::corpus,
                     "line " << number << " of " << name << " is not a token, a tab and a tag");
    WASMFORMER_CHECK(form.count() == 0 || columns.size() == form.count(), ErrorCode::corpus,
                     "line " << number << " of " << name << " has " << columns.size()
                             << " columns, but the first line has " << form.count());
    sentences.add(columns.front(), columns.back());
  });
  sentences.end(last + 1, form.count());
  return sentences.take();
}

}  // namespace wasmformer
