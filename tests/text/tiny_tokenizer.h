// SentencePiece models of a few bytes, written out by hand so that tests can reach every part of the format:
// https://github.com/google/sentencepiece/blob/v0.1.97/src/sentencepiece_model.proto
#pragma once

#include <cstring>
#include <string>
#include <vector>

namespace tiny {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string number_field(unsigned field, std::uint64_t value) { return varint(field << 3) + varint(value); }

inline std::string bytes_field(unsigned field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

inline std::string piece(const std::string& text, float score, unsigned type) {
  std::string bits(sizeof score, '\0');
  std::memcpy(bits.data(), &score, sizeof score);
  return bytes_field(1, bytes_field(1, text) + varint(2 << 3 | 5) + bits + number_field(3, type));
}

// Ids: pad 0, unk 1, begin 2, end 3, "▁" 4, then the letters in order. charsmap: normalization rules, if any.
constexpr unsigned bpe_model = 2, character_model = 4;
inline std::string model(const std::vector<std::string>& letters, const std::string& charsmap = "",
                         unsigned type = character_model) {
  constexpr unsigned normal = 1, unknown = 2, control = 3;
  std::string bytes = piece("<pad>", 0, control) + piece("<unk>", 0, unknown) + piece("<s>", 0, control) +
                      piece("</s>", 0, control) + piece("\xE2\x96\x81", -1, normal);
  for (std::size_t i = 0; i < letters.size(); ++i) bytes += piece(letters[i], -2 - static_cast<float>(i), normal);
  bytes += bytes_field(2, number_field(3, type));
  return bytes + bytes_field(3, charsmap.empty() ? std::string() : bytes_field(2, charsmap));
}

// The same with byte_fallback: the pieces of the 256 bytes stand between "▁" and the letters.
inline std::string byte_model(const std::vector<std::string>& letters) {
  constexpr unsigned normal = 1, unknown = 2, control = 3, byte_type = 6, byte_fallback_field = 35;
  std::string bytes = piece("<pad>", 0, control) + piece("<unk>", 0, unknown) + piece("<s>", 0, control) +
                      piece("</s>", 0, control) + piece("\xE2\x96\x81", -1, normal);
  const std::string digits = "0123456789ABCDEF";
  for (const char high : digits)
    for (const char low : digits) bytes += piece(std::string("<0x") + high + low + ">", 0, byte_type);
  for (std::size_t i = 0; i < letters.size(); ++i) bytes += piece(letters[i], -2 - static_cast<float>(i), normal);
  return bytes + bytes_field(2, number_field(3, bpe_model) + number_field(byte_fallback_field, 1)) + bytes_field(3, "");
}

}  // namespace tiny
