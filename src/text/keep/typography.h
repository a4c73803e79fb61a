// Quotes, dashes and the like of each language, as the plain signs that a model has learned, and back.
#pragma once

#include <string>
#include <string_view>

namespace wasmformer {

// Which typographic signs a text uses.
struct Typography {
  bool quotes = false;       // “ ” « » „ and their like
  bool apostrophes = false;  // ’ and single quotes
  bool dashes = false;       // – —
  bool ellipses = false;     // …

  bool is_mapped() const { return quotes || apostrophes || dashes || ellipses; }
};

// The text with ", ', - and ... for these signs, and without soft hyphens and invisible marks. Adds to `found`. Chinese
// and Japanese keep their quotes, which their models know. `language`: a code of ISO 639-1.
std::u32string plain_signs(std::u32string_view text, std::string_view language, Typography& found);

// Writes those signs of a translation as its language does that the source had mapped. A translation may come in parts,
// so that quotes are paired over all of them.
class Typesetter {
 public:
  // Both must outlive it.
  Typesetter(std::string_view language, const Typography& signs) : language_(language), signs_(signs) {}
  std::u32string operator()(std::u32string_view part);

 private:
  std::string_view language_;
  const Typography& signs_;
  bool is_open_ = false;  // a quote
};

// Brackets and quotes that may enclose a sentence.
bool opens_sentence(char32_t c);
// The sign that closes what `open` opens; U'\0' if it opens nothing. „ and « have two: `other` is the second.
struct Closing {
  char32_t usual = U'\0', other = U'\0';

  bool closes(char32_t c) const { return c != U'\0' && (c == usual || c == other); }
};
Closing closing_of(char32_t open);
bool closes_sentence(char32_t c);
// A sign around a sentence as the language writes it: a quote becomes the language's own, a bracket stays.
std::u32string enclosing_sign(char32_t sign, bool opens, std::string_view language);

}  // namespace wasmformer
