// Classes of characters that the finders of kept spans share.
#pragma once

#include <string_view>

#include "text/unicode/letters.h"

namespace wasmformer {

using CharacterClass = bool (*)(char32_t);

bool is_ascii_letter(char32_t c);
bool is_ascii_alphanumeric(char32_t c);
bool is_ascii_capital(char32_t c);
bool is_space(char32_t c);
// Returns whether a word of a script with spaces continues here.
bool is_word_character(char32_t c);

// Punctuation at the end of a sentence or a part of it.
constexpr std::u32string_view sentence_punctuation = U".,!?;:…。，！？；：";

// U'\0' beyond either end of the text.
char32_t at(std::u32string_view text, std::size_t i);
char32_t before(std::u32string_view text, std::size_t i);
bool begins_word(std::u32string_view text, std::size_t i);
bool starts_with(std::u32string_view text, std::size_t begin, std::u32string_view start);

// Returns the first index from `begin` on whose character is not in the class.
std::size_t skip(std::u32string_view text, std::size_t begin, CharacterClass is_in_class);
// Searches backwards: returns the index after the last character that is not in the class.
std::size_t skip_back(std::u32string_view text, std::size_t end, CharacterClass is_in_class);

bool contains(std::u32string_view characters, char32_t c);
// `words`: words with a space before and behind each.
bool contains_word(std::u32string_view words, std::u32string_view word);
bool has_any(std::u32string_view text, CharacterClass is_in_class);

}  // namespace wasmformer
