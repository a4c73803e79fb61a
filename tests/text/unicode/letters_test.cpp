#include "text/unicode/letters.h"

#include <catch_amalgamated.hpp>

#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

using namespace wasmformer;

TEST_CASE("Capital and small letters of Latin, Greek and Cyrillic scripts", "[letters]") {
  const std::u32string capitals = U"AZÄÞĀŐŽŸΑΩАЯЁ", small = U"azäþāőžÿαωаяё";
  for (std::size_t i = 0; i < capitals.size(); ++i) {
    CHECK(lower_case(capitals[i]) == small[i]);
    CHECK(capital_letter(small[i]) == capitals[i]);
    CHECK(capital_letter(capitals[i]) == capitals[i]);
  }
  for (const char32_t c : U"1.÷×\u00DF\u4F60") CHECK((lower_case(c) == c && capital_letter(c) == c));
}

TEST_CASE("Decoding a text and encoding it again restores it", "[letters]") {
  const std::string text = "a\u00E9\u20AC\u4F60\U0001F600";
  CHECK(encode_utf8(decode_utf8(text)) == text);
}

TEST_CASE("Words are letters, numbers are digits with separators within", "[letters]") {
  const std::u32string text = U"Um 18:30, für 1.234,5 € – x2 你好 😀.";
  std::vector<std::u32string> found;
  for (const Word& word : find_words(text))
    found.push_back(text.substr(word.begin, word.size) + (word.is_number ? U"#" : U""));
  CHECK(found == std::vector<std::u32string>{U"Um", U"18:30#", U"für", U"1.234,5#", U"x", U"2#", U"你好"});
}

TEST_CASE("A text is in capitals if it has at least two letters, all of them capitals") {
  for (const auto* text : {U"WO IST DIE STRA\u1E9EE?", U"\u00C4PFEL: 3,50 \u20AC", U"\u201EOK\u201C",
                           U"\u041F\u0420\u0418\u0412\u0415\u0422"})
    CHECK(is_in_capitals(text));
  for (const auto* text : {U"", U"I?", U"12:30", U"Das ist GUT", U"\u6211\u559C\u6B22 NASA", U"STRA\u00DFE"})
    CHECK(!is_in_capitals(text));
  CHECK(in_capitals(U"gr\u00FC\u00DFe, 3 kg") == U"GR\u00DCSSE, 3 KG");
}
