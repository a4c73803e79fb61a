// Classes of characters that the finders of kept spans share.
#pragma once

#include <string_view>

#include "text/unicode/letters.h"

namespace wasmformer {

inline bool is_ascii_letter(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z'); }
inline bool is_ascii_alphanumeric(char32_t c) { return is_ascii_letter(c) || is_digit(c); }
inline bool is_ascii_capital(char32_t c) { return c >= U'A' && c <= U'Z'; }
inline bool is_space(char32_t c) {
  return (c > U'\0' && c <= U' ') || c == U'\u00A0' || c == U'\u2009' || c == U'\u202F' || c == U'\u3000';
}
// Returns whether a word of a script with spaces goes on here.
inline bool is_of_word(char32_t c) { return is_digit(c) || c == U'_' || (is_letter(c) && !is_ideograph(c)); }

// Punctuation at the end of a sentence or a part of it.
constexpr std::u32string_view sentence_punctuation = U".,!?;:…。，！？；：";

// U'\0' beyond either end of the text.
inline char32_t at(std::u32string_view text, std::size_t i) { return i < text.size() ? text[i] : U'\0'; }
inline char32_t before(std::u32string_view text, std::size_t i) { return i > 0 ? text[i - 1] : U'\0'; }
inline bool begins_word(std::u32string_view text, std::size_t i) { return !is_of_word(before(text, i)); }

// The first place from `begin` on whose character is not in the class.
template <class Class>
std::size_t skip(std::u32string_view text, std::size_t begin, Class is_in_class) {
  while (begin < text.size() && is_in_class(text[begin])) ++begin;
  return begin;
}

inline bool contains(std::u32string_view characters, char32_t c) {
  return c != U'\0' && characters.find(c) != std::u32string_view::npos;
}

}  // namespace wasmformer
