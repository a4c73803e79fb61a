// Characters of each language, by their scripts (ISO 15924).
#pragma once

#include <string_view>
#include <vector>

namespace wasmformer {

// Code points of characters, never of surrogates.
class CharacterSet {
 public:
  CharacterSet() = default;  // none

  static CharacterSet all();
  // Characters of a translation of `source` into a language (ISO 639-1): the characters of the scripts that either
  // is written in, Latin, the usual quotes, dashes and spaces, and characters of `source` that belong to no script,
  // such as emoji. All characters, if the language is unknown.
  static CharacterSet of_translation(std::string_view language, std::u32string_view source);

  // Adds the characters from `first` to `last`, except surrogates and numbers above U+10FFFF.
  void add(char32_t first, char32_t last);
  // Returns whether it has a character from `first` to `last`.
  bool meets(char32_t first, char32_t last) const;

 private:
  struct Range {
    char32_t first, last;
  };
  void insert(char32_t first, char32_t last);

  std::vector<Range> ranges_;  // ascending; they do not touch
};

}  // namespace wasmformer
