#include "cli/files.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tensor/check.h"
#include "text/utf8.h"

namespace wasmformer {
namespace {

std::string reason() { return std::strerror(errno); }

// Removes what was begun, unless it was finished.
struct Unfinished {
  std::string path;
  int file;
  ~Unfinished() {
    if (file >= 0) close(file);
    if (!path.empty()) unlink(path.c_str());
  }
};

void write_all(int file, const std::string& bytes, const std::string& path) {
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    WASMFORMER_CHECK(
        count > 0, "[files] cannot write " << path << ": " << reason() << "; the old file, if any, is kept.");
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace

std::string read_file(const std::string& path) {
  WASMFORMER_CHECK(!std::filesystem::is_directory(path), "[files] " << path << " is a folder, not a file.");
  // zlib passes through what is not packed.
  gzFile file = path == "-" ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path.c_str(), "rb");
  WASMFORMER_CHECK(file, "[files] cannot open " << path << ": " << reason() << ".");
  std::string bytes;
  char buffer[1 << 16];
  int count;
  while ((count = gzread(file, buffer, sizeof buffer)) > 0)
    bytes.append(buffer, static_cast<std::size_t>(count));
  int code = Z_OK;
  gzerror(file, &code);
  gzclose(file);
  WASMFORMER_CHECK(count == 0 && code == Z_OK,
                   "[files] cannot read " << path << ": it is damaged or cut off.");
  return bytes;
}

std::vector<std::string> read_lines(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    std::size_t size = end - begin;
    if (size > 0 && text[end - 1] == '\r') --size;
    lines.push_back(text.substr(begin, size));
    WASMFORMER_CHECK(is_utf8(lines.back()),
                     "[files] " << path << ", line " << lines.size() << " is not UTF-8.");
    begin = end + 1;
  }
  return lines;
}

void write_file_atomically(const std::string& path, const std::string& bytes) {
  if (path == "-") return write_all(STDOUT_FILENO, bytes, path);
  WASMFORMER_CHECK(!std::filesystem::exists(path) || std::filesystem::is_regular_file(path),
                   "[files] cannot write " << path << ": it is not a regular file.");
  const std::string temporary = path + ".unfinished";
  Unfinished out{temporary, open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (out.file < 0) out.path.clear();
  WASMFORMER_CHECK(out.file >= 0, "[files] cannot write " << path << ": " << reason() << ".");
  write_all(out.file, bytes, path);
  WASMFORMER_CHECK(fsync(out.file) == 0 && std::rename(temporary.c_str(), path.c_str()) == 0,
                   "[files] cannot write " << path << ": " << reason() << "; the old file, if any, is kept.");
  out.path.clear();
}

}  // namespace wasmformer
