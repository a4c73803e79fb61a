// Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <string>
#include <string_view>

namespace wasmformer {

bool is_utf8(std::string_view text);

// The code points of `text`. Throws Error if it is not UTF-8.
std::u32string decode_utf8(std::string_view text);

}  // namespace wasmformer
