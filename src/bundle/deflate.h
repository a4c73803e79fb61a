// Compressed bytes: zlib streams (RFC 1950).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wasmformer {

std::string compress(std::string_view bytes);
// Throws Error if the stream is damaged or stands for more than `most_bytes`.
std::string decompress(std::string_view stream, std::size_t most_bytes);

}  // namespace wasmformer
