#include "text/keep/typography.h"

#include <catch_amalgamated.hpp>

using namespace wasmformer;

namespace {

struct Mapped {
  std::u32string plain;
  Typography signs;
};

Mapped mapped(const std::u32string& text, const char* language) {
  Mapped result;
  result.plain = plain_signs(text, language, result.signs);
  return result;
}

}  // namespace

TEST_CASE("Quotes, dashes and ellipses become plain signs, and those of the target language", "[keep]") {
  const Mapped german = mapped(U"»Ja«, sagte er – „Anna’s Haus“ …", "de");
  CHECK(german.plain == U"\"Ja\", sagte er - \"Anna's Haus\" ...");
  CHECK(Typesetter("en", german.signs)(U"\"Yes\", he said - \"Anna's house\" ...") ==
        U"“Yes”, he said – “Anna’s house” …");
  CHECK(mapped(U"« Oui », dit-il", "fr").plain == U"\"Oui\", dit-il");
  CHECK(mapped(U"Bundes\u00ADregierung", "de").plain == U"Bundesregierung");
}

TEST_CASE("A text with plain signs stays plain, and Chinese quotes stay Chinese", "[keep]") {
  const Mapped plain = mapped(U"\"Yes\" - it's ...", "en");
  CHECK_FALSE(plain.signs.is_mapped());
  CHECK(Typesetter("de", plain.signs)(plain.plain) == plain.plain);
  const Mapped chinese = mapped(U"他说“好”—「行」", "zh");
  CHECK(chinese.plain == U"他说“好”—“行”");
}

TEST_CASE("Quotes are paired over the parts of a translation", "[keep]") {
  const Typography signs{.quotes = true};
  Typesetter typeset("de", signs);
  CHECK(typeset(U"Er sagte \"Ja") == U"Er sagte „Ja");
  CHECK(typeset(U" und Nein\".") == U" und Nein“.");
}
