// Zip archives of stored files, as PyTorch and NumPy write them. Nothing is unpacked, so no archive can grow.
// The format is that of APPNOTE.TXT 6.3.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace wasmformer {

bool is_zip(std::string_view bytes);

// The files by name, views into `bytes`. Throws Error for anything but a complete archive of stored
// files that do not overlap.
std::map<std::string, std::string_view> parse_zip(std::string_view bytes);

// Packs these files without compression. Throws Error for archives of 4 GB or more.
std::string serialize_zip(const std::map<std::string, std::string>& files);

}  // namespace wasmformer
