// The properties from the Unicode Character Database that BERT's tokenizer needs (text/wordpiece.h).
#pragma once

#include <string>

namespace wasmformer {

bool is_mark(char32_t c);         // category Mn, such as combining accents
bool is_punctuation(char32_t c);  // categories P, and ASCII symbols such as $
bool is_invisible(char32_t c);    // control and format characters, and those for private use

// The lower-case form of a capital letter; other characters stay as they are.
char32_t lower_case(char32_t c);

// Appends the canonical decomposition of c without its marks: "e" for é, and a syllable of Hangul letter by letter.
void append_without_marks(char32_t c, std::u32string& text);

}  // namespace wasmformer
