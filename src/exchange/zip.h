// Zip archives whose files are stored as they are, as PyTorch and NumPy write them. Nothing is unpacked, so
// that no archive can grow; APPNOTE.TXT 6.3 is the format.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace wasmformer {

bool is_zip(std::string_view bytes);

// The files by name, views into `bytes`. Throws Error for anything but a whole archive of stored files that
// lie apart from each other.
std::map<std::string, std::string_view> parse_zip(std::string_view bytes);

}  // namespace wasmformer
