// The checksum of zip archives and of gzip (ISO 3309).
#pragma once

#include <cstdint>
#include <string_view>

namespace wasmformer {

// CRC-32 of `bytes`. `before`: the checksum of bytes that precede them, to continue it.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace wasmformer
