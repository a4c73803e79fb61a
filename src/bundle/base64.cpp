#include "bundle/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "schema/error.h"

namespace wasmformer {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < n ? static_cast<std::uint8_t>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += j <= n ? base64_digits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string base64_decode(std::string_view text) {
  WASMFORMER_CHECK(text.size() % 4 == 0, ErrorCode::base64, text.size() << " characters are not a multiple of 4");
  std::array<std::uint8_t, 256> values;
  values.fill(64);
  for (std::size_t i = 0; i < base64_digits.size(); ++i)
    values[static_cast<std::uint8_t>(base64_digits[i])] = static_cast<std::uint8_t>(i);
  std::size_t digits = text.size();
  while (digits > 0 && text.size() - digits < 2 && text[digits - 1] == '=') --digits;
  std::string bytes;
  bytes.reserve(digits / 4 * 3 + 2);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::uint8_t value = values[static_cast<std::uint8_t>(text[i])];
    WASMFORMER_CHECK(value < 64, ErrorCode::base64, "character " << i << " is not one of base64");
    group = group << 6 | value;
    // Every digit except the first of four completes a byte.
    if (i % 4 != 0) bytes += static_cast<char>(group >> (6 - 2 * (i % 4)) & 0xFF);
  }
  return bytes;
}

}  // namespace wasmformer
