#include "text/unicode/utf8.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"

using namespace wasmformer;

TEST_CASE("UTF-8 of one to four bytes becomes code points") {
  CHECK(decode_utf8("") == U"");
  CHECK(decode_utf8("a\u00E9\u20AC\U0001F600") == U"a\u00E9\u20AC\U0001F600");
  CHECK(decode_utf8(std::string(1, '\0')) == std::u32string(1, U'\0'));
  // The ends of each length (RFC 3629, section 3).
  CHECK(decode_utf8("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF") ==
        std::u32string{0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF});
}

TEST_CASE("Invalid UTF-8 is refused with its position") {
  const std::string text =
      GENERATE(as<std::string>{}, "\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF", "\xE2\x82",
               "\xE2(\xA1", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98", "\xF4\x90\x80\x80",
               "\xF5\x80\x80\x80", "\xFE", "\xFF");
  CHECK_FALSE(is_utf8(text));
  CHECK_FALSE(is_utf8("fine, then " + text + " and more"));
  CHECK_THROWS_WITH(decode_utf8("ab" + text), "[text] byte 2 of the text is not UTF-8");
}
