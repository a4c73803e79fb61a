#include "text/metrics/copies.h"

#include <algorithm>

#include "schema/error.h"
#include "text/unicode/letters.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

bool is_capital(char32_t c) { return lower_case(c) != c; }

std::vector<std::u32string> words_of(std::u32string_view text, bool numbers) {
  std::vector<std::u32string> words;
  for (const Word& word : find_words(text))
    if (word.is_number == numbers) words.emplace_back(text.substr(word.begin, word.size));
  return words;
}

bool has(const std::vector<std::u32string>& words, const std::u32string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::u32string> plain_numbers(std::u32string_view text) {
  std::vector<std::u32string> numbers = words_of(text, true);
  for (std::u32string& number : numbers) number = plain_number(number);
  return numbers;
}

}  // namespace

CopyFinder::CopyFinder(const std::vector<std::string>& sources, const std::vector<std::string>& targets) {
  for (const std::string& line : sources) learn(line);
  for (const std::string& line : targets) learn(line);
}

void CopyFinder::learn(const std::string& line) {
  for (std::u32string& word : words_of(decode_utf8(line), /*numbers=*/false))
    if (!is_capital(word[0])) ordinary_.insert(std::move(word));
}

std::vector<std::u32string> CopyFinder::names(std::u32string_view source, std::u32string_view target) const {
  const std::vector<std::u32string> others = words_of(target, false);
  std::vector<std::u32string> found;
  for (std::u32string word : words_of(source, false)) {
    // A genitive in one language: Toms, Tom's.
    const bool is_genitive = !has(others, word) && word.back() == 's' && has(others, word.substr(0, word.size() - 1));
    if (is_genitive) word.pop_back();
    const bool is_name =
        word.size() >= 3 && is_capital(word[0]) && std::none_of(word.begin() + 1, word.end(), is_capital) &&
        (is_genitive || has(others, word) || has(others, word + U's')) && !is_ordinary(in_small_letters(word));
    if (is_name && !has(found, word)) found.push_back(std::move(word));
  }
  return found;
}

std::u32string plain_number(std::u32string_view number) {
  std::u32string plain(number);
  std::replace(plain.begin(), plain.end(), U',', U'.');
  return plain;
}

std::vector<std::u32string> copied_numbers(std::u32string_view source, std::u32string_view target) {
  const std::vector<std::u32string> others = plain_numbers(target);
  std::vector<std::u32string> found;
  for (std::u32string& number : plain_numbers(source))
    if (has(others, number) && !has(found, number)) found.push_back(std::move(number));
  return found;
}

CopyRate copy_rate(const std::vector<std::string>& sources, const std::vector<std::string>& hypotheses,
                   const std::vector<std::string>& references) {
  WASMFORMER_CHECK(sources.size() == references.size() && sources.size() == hypotheses.size(), ErrorCode::copy_rate,
                   sources.size() << " sources, " << hypotheses.size() << " hypotheses and " << references.size()
                                  << " references differ in number");
  const CopyFinder finder(sources, references);
  CopyRate rate;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::u32string source = decode_utf8(sources[i]);
    const std::u32string reference = decode_utf8(references[i]);
    const std::u32string hypothesis = decode_utf8(hypotheses[i]);
    const auto words = words_of(hypothesis, /*numbers=*/false);
    const auto numbers = plain_numbers(hypothesis);
    for (const std::u32string& name : finder.names(source, reference)) {
      ++rate.names;
      if (has(words, name) || has(words, name + U's')) ++rate.copied_names;
    }
    for (const std::u32string& number : copied_numbers(source, reference)) {
      ++rate.numbers;
      if (has(numbers, number)) ++rate.copied_numbers;
    }
  }
  return rate;
}

}  // namespace wasmformer
