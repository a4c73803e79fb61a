// The only place that opens files. All errors name the file.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace wasmformer {

// The bytes of a file; `.gz` is unpacked; `-` is standard input, which may be packed too.
std::string read_file(const std::string& path);

// Its lines, UTF-8, ended by LF or CRLF. Throws Error naming file and line that is not UTF-8.
std::vector<std::string> read_lines(const std::string& path);

// Appears under its name whole or not at all: on any failure the old file stays and Error says why. `-` is
// standard output.
void write_file_atomically(const std::string& path, const std::string& bytes);

}  // namespace wasmformer
