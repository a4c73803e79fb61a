#include "text/metrics/bleu_and_chrf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "schema/error.h"
#include "text/unicode/letters.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

// Counts of n-grams, by order from 1.
struct Statistics {
  std::int64_t hypothesis = 0, reference = 0, common = 0;
};

using Counts = std::unordered_map<std::u32string_view, std::int64_t>;

void add(Statistics& s, const Counts& hypothesis, const Counts& reference) {
  for (const auto& [ngram, count] : hypothesis) {
    s.hypothesis += count;
    if (const auto found = reference.find(ngram); found != reference.end()) s.common += std::min(count, found->second);
  }
  for (const auto& [ngram, count] : reference) s.reference += count;
}

void check_sizes(ErrorCode metric, std::size_t hypotheses, std::size_t references) {
  WASMFORMER_CHECK(hypotheses == references, metric,
                   hypotheses << " hypotheses and " << references << " references differ in number");
  WASMFORMER_CHECK(hypotheses > 0, metric, "there are no hypotheses");
}

// White space as Python's str.split() sees it, which sacreBLEU relies on.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

void replace_all(std::u32string& text, std::u32string_view from, std::u32string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::u32string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Puts a space between two neighbors for which a rule holds, and one after them (`is_behind`) or before them, from left
// to right.
template <class Holds>
std::u32string set_apart(const std::u32string& text, bool is_behind, Holds holds) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !holds(text[i], text[i + 1])) {
      out += text[i];
      continue;
    }
    const char32_t a = text[i], b = text[++i];
    out += is_behind ? std::u32string{a, U' ', b, U' '} : std::u32string{U' ', a, U' ', b};
  }
  return out;
}

// With spaces between words and punctuation, the rules that 13a and zh share.
std::u32string set_apart(const std::u32string& text) {
  // ASCII punctuation except ' , - . which depend on their neighbors.
  std::u32string spaced;
  for (const char32_t c : text) {
    const bool apart = (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
                       (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
    spaced += apart ? std::u32string{U' ', c, U' '} : std::u32string(1, c);
  }
  const auto is_point = [](char32_t c) { return c == '.' || c == ','; };
  spaced = set_apart(spaced, true, [&](char32_t a, char32_t b) { return !is_digit(a) && is_point(b); });
  spaced = set_apart(spaced, false, [&](char32_t a, char32_t b) { return is_point(a) && !is_digit(b); });
  return set_apart(spaced, true, [](char32_t a, char32_t b) { return is_digit(a) && b == '-'; });
}

std::u32string prepare_13a(std::u32string text) {
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");
  return U' ' + text + U' ';
}

// The ranges of sacreBLEU's tokenizer_zh.py. That of Extension B is written '\u20000' to '\u2a6d6' there,
// which Python reads as two characters each, so that everything between U+2000 and U+2A6E counts, including
// “ ” … —, and Extension B does not. This is kept, so that scores are comparable.
bool is_chinese(char32_t c) {
  constexpr std::pair<char32_t, char32_t> ranges[] = {
      {0x2001, 0x2A6D}, {0x2E80, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F}, {0x31A0, 0x31BF},
      {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D},
      {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](const auto& range) { return c >= range.first && c <= range.second; });
}

std::u32string prepare_zh(const std::u32string& text) {
  std::u32string out;
  for (const char32_t c : text) out += is_chinese(c) ? std::u32string{U' ', c, U' '} : std::u32string(1, c);
  return out;
}

// The words with one space before each: "Hello, you!" becomes " Hello , you !".
std::u32string tokenize(const std::string& line, const BleuOptions& options) {
  std::u32string text = decode_utf8(line);
  if (options.lowercase) std::transform(text.begin(), text.end(), text.begin(), lower_case);
  while (!text.empty() && is_space(text.back())) text.pop_back();
  const bool by_character = options.tokenizer == BleuTokenizer::character;
  if (options.tokenizer == BleuTokenizer::v13a) text = set_apart(prepare_13a(std::move(text)));
  if (options.tokenizer == BleuTokenizer::zh) {
    text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_space));
    text = set_apart(prepare_zh(text));
  }
  std::u32string words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) continue;
    if (by_character || i == 0 || is_space(text[i - 1])) words += U' ';
    words += text[i];
  }
  return words;
}

// The n-grams of `words`, as substrings of it; it has one space before each word.
Counts word_ngrams(const std::u32string& words, std::size_t n) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == ' ') begins.push_back(i);
  begins.push_back(words.size());
  Counts counts;
  for (std::size_t i = 0; i + n < begins.size(); ++i)
    ++counts[std::u32string_view(words).substr(begins[i], begins[i + n] - begins[i])];
  return counts;
}

Counts character_ngrams(const std::u32string& text, std::size_t n) {
  Counts counts;
  for (std::size_t i = 0; i + n <= text.size(); ++i) ++counts[std::u32string_view(text).substr(i, n)];
  return counts;
}

// In the order of BleuTokenizer's enumerators.
constexpr std::array<const char*, 4> tokenizer_names = {"13a", "zh", "char", "none"};

}  // namespace

BleuTokenizer bleu_tokenizer(const std::string& name) {
  const auto found = std::find(tokenizer_names.begin(), tokenizer_names.end(), name);
  WASMFORMER_CHECK(found != tokenizer_names.end(), ErrorCode::bleu,
                   "there is no tokenizer '" << name << "'; there are 13a, zh, char and none");
  return static_cast<BleuTokenizer>(found - tokenizer_names.begin());
}

BleuTokenizer default_bleu_tokenizer(const std::string& languages) {
  const std::size_t dash = languages.find('-');
  if (dash == std::string::npos) return BleuTokenizer::v13a;
  const std::string target = languages.substr(dash + 1);
  const bool is_zh = target == "zh" || target.starts_with("zh-") || target.starts_with("zh_");
  return is_zh ? BleuTokenizer::zh : BleuTokenizer::v13a;
}

std::size_t bleu_words(const std::string& line, const BleuOptions& options) {
  const std::u32string words = tokenize(line, options);
  return static_cast<std::size_t>(std::count(words.begin(), words.end(), U' '));
}

std::string bleu_signature(const BleuOptions& options) {
  return std::string("nrefs:1|case:") + (options.lowercase ? "lc" : "mixed") +
         "|eff:no|tok:" + tokenizer_names[static_cast<std::size_t>(options.tokenizer)] + "|smooth:exp";
}

namespace {

using Orders = std::array<Statistics, 4>;

void add(Orders& orders, const std::string& hypothesis, const std::string& reference, const BleuOptions& options) {
  const std::u32string ours = tokenize(hypothesis, options), theirs = tokenize(reference, options);
  for (std::size_t n = 1; n <= orders.size(); ++n) add(orders[n - 1], word_ngrams(ours, n), word_ngrams(theirs, n));
}

double bleu(std::span<const Statistics> orders) {
  if (orders.empty() || orders[0].common == 0) return 0;  // smoothing needs at least one match
  double log_precisions = 0, smoothing = 1;
  for (const Statistics& s : orders) {
    // Each order without a match counts as half of a match, then a quarter, ...
    const double common = s.common > 0 ? static_cast<double>(s.common) : 1 / (smoothing *= 2);
    log_precisions += std::log(common / static_cast<double>(s.hypothesis));
  }
  const double ratio = static_cast<double>(orders[0].reference) / static_cast<double>(orders[0].hypothesis);
  const double brevity_penalty = std::exp(std::min(0.0, 1 - ratio));
  return 100 * brevity_penalty * std::exp(log_precisions / static_cast<double>(orders.size()));
}

}  // namespace

double bleu(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references,
            const BleuOptions& options) {
  check_sizes(ErrorCode::bleu, hypotheses.size(), references.size());
  Orders orders;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) add(orders, hypotheses[i], references[i], options);
  return orders.back().hypothesis == 0 ? 0 : bleu(orders);  // without any 4-gram the precision of order 4 is 0
}

double sentence_bleu(const std::string& hypothesis, const std::string& reference, const BleuOptions& options) {
  Orders orders;
  add(orders, hypothesis, reference, options);
  const auto end = std::find_if(orders.begin(), orders.end(), [](const Statistics& s) { return s.hypothesis == 0; });
  return bleu(std::span(orders.begin(), end));
}

double chrf(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references) {
  check_sizes(ErrorCode::chrf, hypotheses.size(), references.size());
  const auto squeeze = [](const std::string& line) {
    std::u32string text = decode_utf8(line);
    std::erase_if(text, is_space);
    return text;
  };
  std::array<Statistics, 6> orders;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const std::u32string hypothesis = squeeze(hypotheses[i]), reference = squeeze(references[i]);
    for (std::size_t n = 1; n <= orders.size(); ++n) {
      // A reference that is too short for an order does not count for it.
      if (reference.size() < n) continue;
      add(orders[n - 1], character_ngrams(hypothesis, n), character_ngrams(reference, n));
    }
  }
  double precision = 0, recall = 0, counted = 0;
  for (const Statistics& s : orders) {
    if (s.hypothesis == 0 || s.reference == 0) continue;
    precision += static_cast<double>(s.common) / static_cast<double>(s.hypothesis);
    recall += static_cast<double>(s.common) / static_cast<double>(s.reference);
    ++counted;
  }
  if (precision + recall == 0) return 0;
  precision /= counted;
  recall /= counted;
  constexpr double beta_squared = 2 * 2;
  return 100 * (1 + beta_squared) * precision * recall / (beta_squared * precision + recall);
}

}  // namespace wasmformer
