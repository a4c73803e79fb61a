#include "bundle/crc32.h"

#include <array>

namespace wasmformer {
namespace {

// The remainder of each byte by the polynomial, whose bits are in reverse.
constexpr std::array<std::uint32_t, 256> remainders = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      const bool is_odd = (remainder & 1) != 0;
      remainder >>= 1;
      if (is_odd) remainder ^= 0xEDB88320u;
    }
    table[byte] = remainder;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (const char byte : bytes) crc = (crc >> 8) ^ remainders[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  return ~crc;
}

}  // namespace wasmformer
