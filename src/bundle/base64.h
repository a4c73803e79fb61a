// Bytes as text (RFC 4648, section 4), for the metadata of model files.
#pragma once

#include <string>
#include <string_view>

namespace wasmformer {

std::string base64_encode(std::string_view bytes);
std::string base64_decode(std::string_view text);  // throws Error if it is not base64

}  // namespace wasmformer
