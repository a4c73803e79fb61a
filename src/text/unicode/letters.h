// Letters, digits and words of any script, as far as training and evaluation need to know them.
#pragma once

#include <string>
#include <vector>

namespace wasmformer {

std::string encode_utf8(std::u32string_view text);

bool is_digit(char32_t c);  // 0 to 9
// Cased scripts (Latin, Greek, Cyrillic) and all others that write words; not digits, marks or symbols.
bool is_letter(char32_t c);
bool is_ideograph(char32_t c);  // Chinese characters and kana: written without spaces
// Letters, their marks, and digits, of which neighbors are of one word; not ideographs.
bool is_of_word(char32_t c);

bool is_white_space(char32_t c);
// Leaves one space between words, and none at the ends.
std::u32string with_single_spaces(std::u32string_view text);

// The reverse of lower_case() in text/unicode/unicode.h for Latin, Greek and Cyrillic letters whose code point is 80,
// 32 or 1 above the uppercase one, and for ÿ; other characters stay as they are.
char32_t capital_letter(char32_t c);
std::u32string in_small_letters(std::u32string text);
std::u32string in_capitals(std::u32string text);  // "SS" for ß
// Returns whether the text has at least two letters and all are uppercase. False if any letter has no case, as in
// Chinese.
bool is_in_capitals(std::u32string_view text);

// A word, or a number with its inner separators such as 3,5 or 18:30, within a text.
struct Word {
  std::size_t begin = 0, size = 0;
  bool is_number = false;
};
std::vector<Word> find_words(std::u32string_view text);

}  // namespace wasmformer
