#include "tasks/translate/augment.h"

#include <cmath>
#include <map>
#include <set>

#include "tensor/random.h"
#include "text/metrics/copies.h"
#include "text/unicode/letters.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

constexpr std::size_t max_joined_bytes = 300;  // of a source, or about 50 words

bool is_end_mark(char32_t c) { return std::u32string_view(U".!?。！？").find(c) != std::u32string_view::npos; }

// Chinese and Japanese sentences follow each other without a space.
bool needs_space(const std::u32string& before) { return !before.empty() && before.back() < 0x2E80; }

void append(std::u32string& text, const std::u32string& sentence) {
  if (needs_space(text)) text += U' ';
  text += sentence;
}

std::u32string without_last(const std::u32string& text) { return text.substr(0, text.size() - 1); }

std::u32string with_small_first(std::u32string text) {
  if (!text.empty()) text[0] = lower_case(text[0]);
  return text;
}

using Replacements = std::map<std::u32string, std::u32string>;  // of names and plain numbers

// The number as it is written in a text, with the digits of `digits`.
std::u32string with_digits(std::u32string written, const std::u32string& digits) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (is_digit(written[i])) written[i] = digits[i];
  }
  return written;
}

std::u32string renamed(const std::u32string& text, const Replacements& replacements) {
  std::u32string result;
  std::size_t end = 0;
  for (const Word& word : find_words(text)) {
    const std::u32string written = text.substr(word.begin, word.size);
    const bool is_genitive = !word.is_number && written.back() == 's' && !replacements.contains(written);
    std::u32string name = written;
    if (word.is_number) name = plain_number(written);
    if (is_genitive) name = without_last(written);
    const auto replacement = replacements.find(name);
    result += text.substr(end, word.begin - end);
    end = word.begin + word.size;
    if (replacement == replacements.end())
      result += written;
    else if (word.is_number)
      result += with_digits(written, replacement->second);
    else
      result += replacement->second + (is_genitive ? U"s" : U"");
  }
  return result + text.substr(end);
}

class Augmenter {
 public:
  Augmenter(ParallelText& text, std::uint64_t seed) : text_(text), count_(text.sources.size()), random_(~seed) {}

  void join(Index copies) {
    for (Index i = 0; i < copies; ++i) {
      const Index max_parts = 2 + random_.below(3);
      Pair joined;
      Index parts = 0;
      for (; parts < max_parts; ++parts) {
        const std::size_t line = random_.below(count_);
        if (parts > 0 && encode_utf8(joined.source).size() + text_.sources[line].size() > max_joined_bytes) break;
        append(joined.source, pair(line).source);
        append(joined.target, pair(line).target);
      }
      if (parts > 1) add(joined);
    }
  }

  void rename(Index copies) {
    if (copies == 0) return;
    find_names();
    for (Index i = 0; i < copies && !named_lines_.empty(); ++i) {
      const Pair p = pair(named_lines_[random_.below(named_lines_.size())]);
      Replacements replacements;
      for (const auto& name : finder_->names(p.source, p.target)) replacements[name] = new_name();
      for (const auto& number : copied_numbers(p.source, p.target)) replacements[number] = new_number(number);
      add({renamed(p.source, replacements), renamed(p.target, replacements)});
    }
  }

  // People who write in lower case often leave out the full stop as well.
  void change_case(Index copies, const std::vector<std::u32string (*)(std::u32string)>& changes) {
    for (Index i = 0; i < copies; ++i) {
      Pair p = pair(random_.below(count_));
      const auto change = changes[random_.below(changes.size())];
      p = {change(p.source), change(p.target)};
      add(random_.below(2) ? p : ended(p));
    }
  }

  void drop_ends(Index copies) {
    for (Index i = 0; i < copies; ++i) {
      const Pair p = pair(random_.below(count_)), shorter = ended(p);
      if (shorter.source != p.source) add(shorter);
    }
  }

 private:
  struct Pair {
    std::u32string source, target;
  };

  Pair pair(std::size_t line) const { return {decode_utf8(text_.sources[line]), decode_utf8(text_.targets[line])}; }

  // Without its last mark, if both sides have one.
  static Pair ended(const Pair& p) {
    const bool have_ends =
        p.source.size() > 1 && p.target.size() > 1 && is_end_mark(p.source.back()) && is_end_mark(p.target.back());
    return have_ends ? Pair{without_last(p.source), without_last(p.target)} : p;
  }

  void add(const Pair& p) {
    text_.sources.push_back(encode_utf8(p.source));
    text_.targets.push_back(encode_utf8(p.target));
  }

  void find_names() {
    finder_ = std::make_unique<CopyFinder>(text_.sources, text_.targets);
    std::set<std::u32string> names;
    for (Index line = 0; line < count_; ++line) {
      const Pair p = pair(line);
      const auto found = finder_->names(p.source, p.target);
      names.insert(found.begin(), found.end());
      if (!found.empty() || !copied_numbers(p.source, p.target).empty()) named_lines_.push_back(line);
    }
    names_.assign(names.begin(), names.end());
    std::set<char32_t> letters;
    for (const auto& name : names_) letters.insert(name.begin() + 1, name.end());
    letters_.assign(letters.begin(), letters.end());
  }

  // A name from the pairs, or one spliced from two; in half of the spliced ones, one non-initial letter is replaced.
  // So the model learns to copy unseen names, letter by letter if need be. All letters are equally likely.
  std::u32string new_name() {
    const std::u32string& first = names_[random_.below(names_.size())];
    const std::u32string& second = names_[random_.below(names_.size())];
    if (random_.below(2)) return first;
    std::u32string name = first.substr(0, (first.size() + 1) / 2) + second.substr(second.size() / 2);
    if (random_.below(2)) name[1 + random_.below(name.size() - 1)] = letters_[random_.below(letters_.size())];
    return name;
  }

  // With as many digits; 1 stays, as what it counts is singular.
  std::u32string new_number(std::u32string number) {
    if (number == U"1") return number;
    for (std::size_t i = 0; i < number.size(); ++i) {
      const bool is_first = i == 0, is_leading_zero = is_first && number[i] == '0';
      if (!is_digit(number[i]) || is_leading_zero) continue;
      const Index digit = is_first ? 2 + random_.below(8) : random_.below(10);
      number[i] = static_cast<char32_t>('0' + digit);
    }
    return number;
  }

  ParallelText& text_;
  Index count_;  // of the pairs that are not copies
  Random random_;
  std::unique_ptr<CopyFinder> finder_;
  std::vector<std::u32string> names_;  // of all pairs, each once
  std::vector<char32_t> letters_;      // non-initial, from names; each once
  std::vector<Index> named_lines_;     // with a name or a number
};

}  // namespace

ParallelText weighted(const ParallelText& text, double weight) {
  ParallelText result;
  for (std::size_t i = 0; i < text.sources.size(); ++i) {
    const double before = std::floor(static_cast<double>(i) * weight);
    const double after = std::floor(static_cast<double>(i + 1) * weight);
    for (double copy = before; copy < after; ++copy) {
      result.sources.push_back(text.sources[i]);
      result.targets.push_back(text.targets[i]);
    }
  }
  return result;
}

ParallelText augmented(ParallelText text, const Augmentation& shares, std::uint64_t seed) {
  const auto count = static_cast<double>(text.sources.size());
  const auto copies = [&](double share) { return static_cast<Index>(std::llround(share * count)); };
  Augmenter augmenter(text, seed);
  augmenter.rename(copies(shares.names));
  augmenter.join(copies(shares.concat));
  augmenter.change_case(copies(shares.lowercase), {with_small_first, in_small_letters});
  augmenter.change_case(copies(shares.uppercase), {in_capitals});
  augmenter.drop_ends(copies(shares.no_final_punctuation));
  return text;
}

}  // namespace wasmformer
