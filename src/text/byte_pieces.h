// The byte pieces of a vocabulary with byte_fallback: <0x00> to <0xFF>, which spell characters that no piece has.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

class BytePieces {
 public:
  void add(std::uint8_t byte, TokenId id) {
    ids_[byte] = id;
    const auto place = static_cast<std::size_t>(id);
    if (bytes_.size() <= place) bytes_.resize(place + 1, none);
    bytes_[place] = byte;
  }

  bool is_empty() const { return bytes_.empty(); }
  // The piece of a byte, or `none`.
  TokenId piece(std::uint8_t byte) const { return ids_[byte]; }
  // The byte of a piece, or `none`.
  int byte(TokenId id) const {
    const auto place = static_cast<std::size_t>(id);
    return place < bytes_.size() ? bytes_[place] : none;
  }

  static constexpr int none = -1;

 private:
  std::array<TokenId, 256> ids_ = [] {
    std::array<TokenId, 256> ids;
    ids.fill(none);
    return ids;
  }();
  std::vector<std::int16_t> bytes_;  // one per piece
};

}  // namespace wasmformer
