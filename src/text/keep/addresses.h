// Addresses of the web, of files and of people. Each function returns the end of what begins at `begin`, or `begin` if
// there is no such thing.
#pragma once

#include <string_view>

namespace wasmformer {

// URLs, e-mail addresses, names of hosts, IP numbers.
std::size_t end_of_url(std::u32string_view text, std::size_t begin);
// Absolute and relative paths, and names of files by their suffix.
std::size_t end_of_path(std::u32string_view text, std::size_t begin);
// @name and #tag.
std::size_t end_of_handle(std::u32string_view text, std::size_t begin);

}  // namespace wasmformer
