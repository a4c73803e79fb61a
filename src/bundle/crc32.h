// The checksum of zip archives and of gzip (ISO 3309).
#pragma once

#include <cstdint>
#include <string_view>

namespace wasmformer {

// Of `bytes`, or of what `before` is the checksum of, followed by `bytes`.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace wasmformer
