#include "library/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "schema/error.h"

namespace wasmformer {
namespace {

[[noreturn]] void cannot_read(const std::filesystem::path& path, const char* reason) {
  throw Error(ErrorCode::files, "cannot read " + path.string() + ": " + reason, {{"file", path.string()}});
}

// Closes the file; its mapping stays.
struct OpenFile {
  int number;
  ~OpenFile() { close(number); }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) cannot_read(path, std::strerror(errno));
  const OpenFile file{number};
  struct stat status {};
  if (fstat(number, &status) != 0) cannot_read(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) cannot_read(path, "not a file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;  // cannot be mapped
  void* const start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, number, 0);
  if (start == MAP_FAILED) cannot_read(path, std::strerror(errno));
  bytes_ = {static_cast<const char*>(start), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace wasmformer
