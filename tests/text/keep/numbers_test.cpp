#include "text/keep/numbers.h"

#include <catch_amalgamated.hpp>

using namespace wasmformer;

namespace {

std::u32string written(const std::u32string& text, const char* source, const char* target) {
  return in_target_format(text, 0, text.size(), source, target);
}

}  // namespace

TEST_CASE("Numbers get the separators of the target language", "[keep]") {
  CHECK(written(U"1.234.567,89 €", "de", "en") == U"1,234,567.89 €");
  CHECK(written(U"$1,234.56", "en", "de") == U"$1.234,56");
  CHECK(written(U"1 234 567,5", "fr", "en") == U"1,234,567.5");
  CHECK(written(U"1,234.5", "en", "fr") == U"1\u202F234,5");
  CHECK(written(U"3,5 %", "de", "en") == U"3.5 %");
  CHECK(written(U"1,000,000", "en", "zh") == U"1,000,000");
  CHECK(written(U"1.5", "zh", "en") == U"1.5");
}

TEST_CASE("What is no number of the source language stays as it is", "[keep]") {
  for (const char32_t* text : {U"24.12.2023", U"18:30", U"0.85.x", U"1.23", U"2019", U"1/2", U"10–20", U"+49 30 123"})
    CHECK(written(text, "de", "en") == text);
  for (const char32_t* text : {U"1,23", U"12/24/2020", U"3,5,7"}) CHECK(written(text, "en", "de") == text);
  CHECK(written(U"1.234,5", "xx", "en") == U"1.234,5");
  const std::u32string version = U"I use Python 3.11 now";
  CHECK(in_target_format(version, 13, 17, "en", "de") == U"3.11");
  const std::u32string pi = U"about 3.14 of them";
  CHECK(in_target_format(pi, 6, 10, "en", "de") == U"3,14");
}
