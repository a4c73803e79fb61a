#include "text/unicode/letters.h"

#include <algorithm>
#include <string_view>

#include "text/unicode/unicode.h"

namespace wasmformer {
namespace {

bool is_separator(char32_t c) { return c == '.' || c == ',' || c == ':'; }

bool within(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

// How many bytes of UTF-8 follow the first.
int following_bytes(char32_t c) {
  if (c < 0x80) return 0;
  if (c < 0x800) return 1;
  return c < 0x10000 ? 2 : 3;
}

std::size_t end_of_number(std::u32string_view text, std::size_t begin) {
  const auto is_inner_separator = [text](std::size_t i) {
    return is_separator(text[i]) && i + 1 < text.size() && is_digit(text[i + 1]);
  };
  std::size_t end = begin;
  while (end < text.size() && (is_digit(text[end]) || is_inner_separator(end))) ++end;
  return end;
}

std::size_t end_of_letters(std::u32string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_letter(text[end])) ++end;
  return end;
}

}  // namespace

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  for (const char32_t c : text) {
    const int more = following_bytes(c);
    constexpr char32_t marks[] = {0, 0xC0, 0xE0, 0xF0};
    bytes += static_cast<char>(marks[more] | c >> (6 * more));
    for (int i = more - 1; i >= 0; --i) bytes += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
  }
  return bytes;
}

bool is_digit(char32_t c) { return within(c, '0', '9'); }

bool is_letter(char32_t c) {
  if (c < 0xAA) return within(c, 'A', 'Z') || within(c, 'a', 'z');
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  // Beyond are words, but for the blocks of punctuation, symbols and emoji.
  const bool is_symbol = c == 0xD7 || c == 0xF7 || within(c, 0x2000, 0x2BFF) || within(c, 0x3000, 0x3020) ||
                         within(c, 0xE000, 0xF8FF) || within(c, 0xFE00, 0xFE6F) || within(c, 0xFF00, 0xFF20) ||
                         within(c, 0xFF3B, 0xFF40) || within(c, 0xFF5B, 0xFF65) || within(c, 0xFFE0, 0xFFFF) ||
                         within(c, 0x1F000, 0x1FAFF) || c >= 0xE0000;
  return !is_symbol;
}

bool is_ideograph(char32_t c) {
  return within(c, 0x3040, 0x30FF) || within(c, 0x3400, 0x9FFF) || within(c, 0xF900, 0xFAFF) ||
         within(c, 0x20000, 0x3FFFF);
}

bool is_of_word(char32_t c) { return is_digit(c) || is_mark(c) || (is_letter(c) && !is_ideograph(c)); }

bool is_white_space(char32_t c) { return c == U' ' || within(c, U'\t', U'\r') || c == 0xA0 || c == 0x3000; }

std::u32string with_single_spaces(std::u32string_view text) {
  std::u32string result;
  for (const char32_t c : text) {
    if (!is_white_space(c))
      result += c;
    else if (!result.empty() && result.back() != U' ')
      result += U' ';
  }
  if (!result.empty() && result.back() == U' ') result.pop_back();
  return result;
}

char32_t capital_letter(char32_t c) {
  const char32_t candidates[] = {c - 32, c - 80, c - 1, 0x178};
  for (const char32_t candidate : candidates)
    if (candidate != c && lower_case(candidate) == c) return candidate;
  return c;
}

std::u32string in_small_letters(std::u32string text) {
  for (char32_t& c : text) c = lower_case(c);
  return text;
}

std::u32string in_capitals(std::u32string text) {
  std::u32string capitals;
  for (const char32_t c : text) {
    if (c == U'ß')
      capitals += U"SS";
    else
      capitals += capital_letter(c);
  }
  return capitals;
}

bool is_in_capitals(std::u32string_view text) {
  std::size_t letters = 0;
  for (const char32_t c : text) {
    if (!is_letter(c)) continue;
    if (lower_case(c) == c) return false;
    ++letters;
  }
  return letters > 1;
}

std::vector<Word> find_words(std::u32string_view text) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < text.size();) {
    const bool is_number = is_digit(text[i]);
    const std::size_t end = is_number ? end_of_number(text, i) : end_of_letters(text, i);
    if (end > i) words.push_back({i, end - i, is_number});
    i = std::max(end, i + 1);
  }
  return words;
}

}  // namespace wasmformer
