// Bytes as users of the library have them, and as the rest of it has them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace wasmformer {

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::vector<std::byte> bytes_of(std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace wasmformer
