#include "text/keep/characters.h"

namespace wasmformer {

bool is_ascii_letter(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z'); }
bool is_ascii_alphanumeric(char32_t c) { return is_ascii_letter(c) || is_digit(c); }
bool is_ascii_capital(char32_t c) { return c >= U'A' && c <= U'Z'; }
bool is_space(char32_t c) {
  return (c > U'\0' && c <= U' ') || c == U'\u00A0' || c == U'\u2009' || c == U'\u202F' || c == U'\u3000';
}
bool is_word_character(char32_t c) { return is_digit(c) || c == U'_' || (is_letter(c) && !is_ideograph(c)); }

char32_t at(std::u32string_view text, std::size_t i) { return i < text.size() ? text[i] : U'\0'; }
char32_t before(std::u32string_view text, std::size_t i) { return i > 0 ? text[i - 1] : U'\0'; }
bool begins_word(std::u32string_view text, std::size_t i) { return !is_word_character(before(text, i)); }
bool starts_with(std::u32string_view text, std::size_t begin, std::u32string_view start) {
  return begin <= text.size() && text.substr(begin).starts_with(start);
}

std::size_t skip(std::u32string_view text, std::size_t begin, CharacterClass is_in_class) {
  while (begin < text.size() && is_in_class(text[begin])) ++begin;
  return begin;
}
std::size_t skip_back(std::u32string_view text, std::size_t end, CharacterClass is_in_class) {
  while (end > 0 && is_in_class(text[end - 1])) --end;
  return end;
}

bool contains(std::u32string_view characters, char32_t c) {
  for (const char32_t character : characters)
    if (character == c) return true;
  return false;
}

bool contains_word(std::u32string_view words, std::u32string_view word) {
  for (std::size_t begin = 1; begin < words.size();) {
    const std::size_t end = words.find(U' ', begin);
    if (words.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

bool has_any(std::u32string_view text, CharacterClass is_in_class) {
  for (const char32_t c : text)
    if (is_in_class(c)) return true;
  return false;
}

}  // namespace wasmformer
