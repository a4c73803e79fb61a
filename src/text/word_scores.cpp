#include "text/word_scores.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "schema/error.h"
#include "tensor/heap_sort.h"
#include "tensor/random.h"
#include "text/unicode/letters.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

constexpr std::uint32_t fnv_start = 0x811c9dc5u, fnv_prime = 0x01000193u;

bool is_space(char32_t c) { return c <= U' ' || c == U'\u00A0' || c == U'\u3000'; }

bool is_inside_word(char32_t c) {
  return is_digit(c) || c == U'\'' || c == U'-' || c == U'_' || (is_letter(c) && !is_ideograph(c));
}

std::size_t end_of_run(std::u32string_view text, std::size_t begin) {
  while (begin < text.size() && is_inside_word(text[begin])) ++begin;
  return begin;
}

// The end of the word that begins here: of a run of letters and digits, a mark such as </e1>, or one other character.
std::size_t end_of_word(std::u32string_view text, std::size_t begin) {
  if (text[begin] == U'<') {
    const std::size_t name = begin + 1 + (begin + 1 < text.size() && text[begin + 1] == U'/');
    const std::size_t end = end_of_run(text, name);
    if (end > name && end < text.size() && text[end] == U'>') return end + 1;
  }
  return std::max(end_of_run(text, begin), begin + 1);
}

// FNV-1a over the characters.
std::uint32_t exact_hash(std::u32string_view word) {
  std::uint32_t hash = fnv_start;
  for (const char32_t c : word) hash = (hash ^ static_cast<std::uint32_t>(c)) * fnv_prime;
  return hash;
}

// One for all ways to capitalize a word.
std::uint32_t hash_of(std::u32string_view word) {
  std::u32string lower(word);
  std::ranges::transform(lower, lower.begin(), lower_case);
  return exact_hash(lower);
}

std::uint32_t hash_of(std::uint32_t first, std::uint32_t second) {
  return static_cast<std::uint32_t>(mix(std::uint64_t{first} << 32 | second) >> 32);
}

void sort_features(std::vector<std::uint32_t>& features) {
  heap_sort(features);
  features.erase(std::unique(features.begin(), features.end()), features.end());
}

char32_t shape_of(char32_t c) {
  if (is_digit(c)) return U'0';
  if (is_ideograph(c)) return U'\u4E00';
  if (!is_letter(c)) return c;
  return lower_case(c) == c ? U'a' : U'A';
}

// "Aa" for "Rome", "A0" for "WNUT17", "a-a" for "so-called".
std::u32string shape_of(std::u32string_view word) {
  std::u32string shape;
  for (const char32_t c : word)
    if (shape.empty() || shape.back() != shape_of(c)) shape += shape_of(c);
  return shape;
}

// A word as its neighbors see it.
struct SeenWord {
  std::uint32_t word = 0, shape = 0, length = 0;
};

constexpr SeenWord outside{1, 1, 0};  // before the first word and behind the last

// Kinds of features, which keep equal hashes apart.
enum class Kind : std::uint32_t {
  any,
  word,
  exact,
  shape,
  length,
  first,
  last,
  word_before,
  word_behind,
  word_2_before,
  word_2_behind,
  shape_before,
  shape_behind,
  pair_before,
  pair_behind,
  shapes_before,
  shapes_behind,
  word_and_shape,
  shape_and_word
};

void add_spelling(std::u32string_view word, std::vector<std::uint32_t>& features) {
  constexpr std::size_t longest = 4;
  for (std::size_t n = 1; n <= longest && n < word.size(); ++n) {
    features.push_back(hash_of(static_cast<std::uint32_t>(Kind::first), hash_of(word.substr(0, n))));
    features.push_back(hash_of(static_cast<std::uint32_t>(Kind::last), hash_of(word.substr(word.size() - n))));
  }
}

// In characters, long ones alike, and whether the first is a capital.
std::uint32_t length_of(std::u32string_view word) {
  constexpr std::size_t longest = 9;
  const bool is_capital = !word.empty() && lower_case(word[0]) != word[0];
  return static_cast<std::uint32_t>(2 * std::min(word.size(), longest) + is_capital);
}

}  // namespace

std::vector<std::uint32_t> word_features(std::string_view text) {
  const std::u32string characters = decode_utf8(text);
  std::vector<std::uint32_t> features;
  std::uint32_t before = fnv_start;  // stands for the begin of the text
  for (std::size_t i = 0; i < characters.size();) {
    if (is_space(characters[i])) {
      ++i;
      continue;
    }
    const std::size_t end = end_of_word(characters, i);
    const std::uint32_t word = hash_of(std::u32string_view(characters).substr(i, end - i));
    features.push_back(word);
    features.push_back(hash_of(before, word));
    before = word;
    i = end;
  }
  sort_features(features);
  return features;
}

std::vector<std::vector<std::uint32_t>> context_features(std::span<const std::string_view> words) {
  std::vector<SeenWord> seen{outside, outside};
  std::vector<std::vector<std::uint32_t>> all(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::u32string word = decode_utf8(words[i]);
    seen.push_back({hash_of(word), exact_hash(shape_of(word)), length_of(word)});
    all[i].push_back(hash_of(static_cast<std::uint32_t>(Kind::exact), exact_hash(word)));
    add_spelling(word, all[i]);
  }
  seen.insert(seen.end(), {outside, outside});
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& [two_before, before, own, behind, two_behind] =
        std::tie(seen[i], seen[i + 1], seen[i + 2], seen[i + 3], seen[i + 4]);
    for (const auto& [kind, hash] : {std::pair(Kind::any, 0u),
                                     {Kind::word, own.word},
                                     {Kind::shape, own.shape},
                                     {Kind::length, own.length},
                                     {Kind::word_before, before.word},
                                     {Kind::word_behind, behind.word},
                                     {Kind::word_2_before, two_before.word},
                                     {Kind::word_2_behind, two_behind.word},
                                     {Kind::shape_before, before.shape},
                                     {Kind::shape_behind, behind.shape},
                                     {Kind::pair_before, hash_of(before.word, own.word)},
                                     {Kind::pair_behind, hash_of(own.word, behind.word)},
                                     {Kind::shapes_before, hash_of(before.shape, own.shape)},
                                     {Kind::shapes_behind, hash_of(own.shape, behind.shape)},
                                     {Kind::word_and_shape, hash_of(before.word, own.shape)},
                                     {Kind::shape_and_word, hash_of(own.shape, behind.word)}})
      all[i].push_back(hash_of(static_cast<std::uint32_t>(kind), hash));
    sort_features(all[i]);
  }
  return all;
}

void WordScores::check(Index classes) const {
  const auto count = static_cast<Index>(features.size());
  const bool ascend = std::adjacent_find(features.begin(), features.end(), std::greater_equal<>()) == features.end();
  WASMFORMER_CHECK(ascend && weights.rows == classes && weights.cols == count, ErrorCode::model,
                   "the weights of words are [" << weights.rows << ", " << weights.cols << "] for " << count
                                                << " features and " << classes
                                                << " classes, or the features do not ascend");
}

Matrix WordScores::scores(std::span<const std::uint32_t> found) const {
  Matrix sums = Matrix::Zero(1, weights.rows);
  Index known = 0;
  auto from = features.begin();
  for (const std::uint32_t feature : found) {
    from = std::lower_bound(from, features.end(), feature);
    if (from == features.end()) break;
    if (*from != feature) continue;
    ++known;
    const auto column = static_cast<std::size_t>(from - features.begin());
    for (Index c = 0; c < weights.rows; ++c)
      sums(0, c) += weights.values[static_cast<std::size_t>(c * weights.cols) + column];
  }
  const Scalar share = 1 / std::sqrt(static_cast<Scalar>(std::max<Index>(known, 1)));
  for (Index c = 0; c < weights.rows; ++c) sums(0, c) *= weights.scales[static_cast<std::size_t>(c)] * share;
  return sums;
}

}  // namespace wasmformer
