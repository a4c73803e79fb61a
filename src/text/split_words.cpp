#include "text/split_words.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "text/unicode/letters.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

using Cuts = std::vector<std::size_t>;

bool is_apostrophe(char32_t c) { return c == U'\'' || c == U'\u2019'; }

template <class Words>
bool contains(const Words& words, std::u32string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

// Words without an apostrophe at the place of their cut: those of the Penn Treebank's tokenizer (MacIntyre 1995), and
// what UD English EWT cuts beside them (dunno, c'mon). An apostrophe stands for either kind.
const std::map<std::u32string, Cuts>& cuts_of_words() {
  static const std::map<std::u32string, Cuts> all{
      {U"cannot", {3}},   {U"gimme", {3}},  {U"gonna", {3}}, {U"gotta", {3}}, {U"lemme", {3}}, {U"wanna", {3}},
      {U"dunno", {2, 3}}, {U"more'n", {4}}, {U"c'mon", {3}}, {U"d'ye", {2}},  {U"'tis", {2}},  {U"'twas", {2}},
  };
  return all;
}

// Letters after an apostrophe in English that are a word together with it (UD English EWT).
constexpr std::array<std::u32string_view, 6> english_ends{U"s", U"m", U"d", U"ll", U"re", U"ve"};
// Words that begin with an apostrophe there.
constexpr std::array<std::u32string_view, 9> begun_words{U"s", U"m", U"d", U"ll", U"re", U"ve", U"em", U"tis", U"twas"};
// Letters before an apostrophe in French that are a word together with it (UD French GSD).
constexpr std::array<std::u32string_view, 13> french_beginnings{
    U"l", U"d", U"j", U"c", U"n", U"s", U"m", U"t", U"qu", U"jusqu", U"lorsqu", U"puisqu", U"quoiqu"};

// In small letters, with ' for either apostrophe.
std::u32string plain(std::u32string_view word) {
  std::u32string text = in_small_letters(std::u32string(word));
  std::ranges::replace_if(text, is_apostrophe, U'\'');
  return text;
}

// Names such as D'Angelo are whole, but L' is the article even before a name.
bool is_name(std::u32string_view written, std::size_t apostrophe) {
  const auto is_capital = [&](std::size_t at) { return plain(written.substr(at, 1)) != written.substr(at, 1); };
  return written[0] != U'L' && is_capital(0) && is_capital(apostrophe + 1);
}

// Cuts in a word, which may have apostrophes between its letters.
Cuts cuts_of(std::u32string_view written) {
  const std::u32string word = plain(written);
  if (const auto found = cuts_of_words().find(word); found != cuts_of_words().end()) return found->second;
  Cuts cuts;
  std::size_t end = word.size();
  for (std::size_t at = word.rfind(U'\''); at != word.npos && at > 0; at = word.rfind(U'\'', end - 1)) {
    const std::u32string_view last(&word[at + 1], end - at - 1);
    const bool is_not = last == U"t" && word[at - 1] == U'n';
    if (!is_not && !contains(english_ends, last)) break;
    end = is_not ? at - 1 : at;
    if (end == 0) break;  // "n't" alone
    cuts.insert(cuts.begin(), end);
  }
  const std::size_t first = word.find(U'\'');
  const bool is_elided = first < end && contains(french_beginnings, std::u32string_view(word).substr(0, first));
  if (is_elided && !is_name(written, first)) cuts.insert(cuts.begin(), first + 1);
  return cuts;
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text), characters_(decode_utf8(text)) {
    for (const char32_t c : characters_) bytes_.push_back(bytes_.back() + encode_utf8({&c, 1}).size());
  }

  std::vector<std::string_view> words() {
    const std::vector<Word> found = find_words(characters_);
    std::size_t at = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::size_t begin = found[i].begin;
      std::size_t end = begin + found[i].size;
      for (; i + 1 < found.size() && are_joined(found[i], found[i + 1]); ++i)
        end = found[i + 1].begin + found[i + 1].size;
      if (begin > at && begins_with_apostrophe(begin, end)) --begin;
      add_each(at, begin);
      add_word(begin, end);
      at = end;
    }
    add_each(at, characters_.size());
    return std::move(words_);
  }

 private:
  // Returns whether an apostrophe makes one word of them: O'Neill, don't, 1960's.
  bool are_joined(const Word& word, const Word& next) const {
    const std::size_t end = word.begin + word.size;
    if (next.begin != end + 1 || !is_apostrophe(characters_[end])) return false;
    if (is_ideograph(characters_[end - 1]) || is_ideograph(characters_[next.begin]) || next.is_number) return false;
    return !word.is_number || characters_.substr(next.begin, next.size) == U"s";
  }

  // Returns whether the character before [begin, end) is its apostrophe, rather than a quotation mark.
  bool begins_with_apostrophe(std::size_t begin, std::size_t end) const {
    if (!is_apostrophe(characters_[begin - 1])) return false;
    const bool is_quoted = end < characters_.size() && is_apostrophe(characters_[end]);
    const bool follows_word = begin > 1 && (is_letter(characters_[begin - 2]) || is_digit(characters_[begin - 2]));
    return !is_quoted && !follows_word && contains(begun_words, plain(view(begin, end)));
  }

  std::u32string_view view(std::size_t from, std::size_t to) const {
    return std::u32string_view(characters_).substr(from, to - from);
  }

  void add(std::size_t from, std::size_t to) {
    words_.push_back(text_.substr(bytes_[from], bytes_[to] - bytes_[from]));
  }

  // Every character by itself, without spaces.
  void add_each(std::size_t from, std::size_t to) {
    for (; from < to; ++from)
      if (characters_[from] > U' ' && characters_[from] != U'\u00A0' && characters_[from] != U'\u3000')
        add(from, from + 1);
  }

  void add_word(std::size_t from, std::size_t to) {
    if (is_ideograph(characters_[from])) return add_each(from, to);
    if (is_digit(characters_[from])) return add(from, to);
    std::size_t begin = from;
    for (const std::size_t cut : cuts_of(view(from, to))) {
      add(begin, from + cut);
      begin = from + cut;
    }
    add(begin, to);
  }

  std::string_view text_;
  std::u32string characters_;
  std::vector<std::size_t> bytes_{0};  // where each character begins
  std::vector<std::string_view> words_;
};

}  // namespace

std::vector<std::string_view> split_words(std::string_view text) { return Splitter(text).words(); }

}  // namespace wasmformer
