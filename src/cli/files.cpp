#include "cli/files.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "tensor/check.h"
#include "text/utf8.h"

namespace wasmformer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t chunk_bytes = 1 << 16;

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw Error("[files] cannot " + std::string(what) + " '" + path +
              "': " + std::generic_category().message(errno));
}

// zlib passes through what is not packed.
std::string read_gzip(gzFile opened, const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(opened, gzclose_r);
  if (!file) fail("read", path);
  std::string bytes;
  std::array<char, chunk_bytes> chunk;
  int n = 0;
  while ((n = gzread(file.get(), chunk.data(), chunk.size())) > 0)
    bytes.append(chunk.data(), static_cast<std::size_t>(n));
  int error = Z_OK;
  gzerror(file.get(), &error);
  if (error == Z_ERRNO) fail("read", path);
  WASMFORMER_CHECK(n == 0 && error == Z_OK,
                   "[files] cannot read '" << path << "': its gzip data is damaged or cut short");
  return bytes;
}

void write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// An open file, closed at the end of its scope.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

std::string read_file(const std::string& path) {
  errno = 0;
  if (path == "-") return read_gzip(gzdopen(::dup(STDIN_FILENO), "rb"), "standard input");
  if (path.ends_with(".gz")) return read_gzip(gzopen(path.c_str(), "rb"), path);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) fail("read", path);
  std::string bytes;
  std::array<char, chunk_bytes> chunk;
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), file.get()))
    bytes.append(chunk.data(), n);
  if (std::ferror(file.get())) fail("read", path);
  return bytes;
}

std::vector<std::string> read_lines(const std::string& path) {
  const std::string bytes = read_file(path);
  std::string_view rest = bytes;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);  // a byte order mark is no text
  std::vector<std::string> lines;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    WASMFORMER_CHECK(is_utf8(line),
                     "[files] line " << lines.size() + 1 << " of '" << path << "' is not UTF-8");
    lines.emplace_back(line);
  }
  return lines;
}

void write_file_atomically(const std::string& path, const std::string& bytes) {
  std::signal(SIGXFSZ,
              SIG_IGN);  // a limit on file sizes is then an error of write(), not the end of the program
  if (path == "-") return write_all(STDOUT_FILENO, bytes, "standard output");
  std::error_code none;
  // A rename would put a file in the place of a link, or of a device such as /dev/null.
  const std::string target = fs::is_symlink(path, none) ? fs::weakly_canonical(path, none).string() : path;
  if (fs::exists(target, none) && !fs::is_regular_file(target, none)) {
    const Descriptor file{::open(target.c_str(), O_WRONLY | O_CLOEXEC)};
    if (file.number < 0) fail("write", path);
    return write_all(file.number, bytes, path);
  }
  const std::string unfinished = target + ".unfinished";
  try {
    const Descriptor file{::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (file.number < 0) fail("write", path);
    write_all(file.number, bytes, path);
    if (::fsync(file.number) != 0 || std::rename(unfinished.c_str(), target.c_str()) != 0)
      fail("write", path);
  } catch (const Error&) {
    ::unlink(unfinished.c_str());
    throw;
  }
  // So that the new name outlives a crash; not every file system can, and then it is no error.
  const std::string folder = fs::path(target).parent_path().string();
  const Descriptor file{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number >= 0) ::fsync(file.number);
}

}  // namespace wasmformer
