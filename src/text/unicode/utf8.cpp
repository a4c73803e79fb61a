#include "text/unicode/utf8.h"

#include <cstdint>

#include "schema/error.h"

namespace wasmformer {
namespace {

// Bytes of the first code point of `text`, which is stored in `code`; 0 if it is invalid.
std::size_t decode_one(std::string_view text, char32_t& code) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) {
    code = first;
    return 1;
  }
  if (first < 0xC0 || first >= 0xF8) return 0;
  std::size_t length = 2;
  if (first >= 0xE0) length = 3;
  if (first >= 0xF0) length = 4;
  if (text.size() < length) return 0;
  code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool is_valid = code >= least[length] && code <= 0x10FFFF && !surrogate;
  return is_valid ? length : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  char32_t code = 0;
  while (!text.empty()) {
    const std::size_t length = decode_one(text, code);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string codes;
  codes.reserve(text.size());
  char32_t code = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = decode_one(text.substr(at), code);
    WASMFORMER_CHECK(length > 0, ErrorCode::text, "byte " << at << " of the text is not UTF-8");
    codes.push_back(code);
    at += length;
  }
  return codes;
}

}  // namespace wasmformer
