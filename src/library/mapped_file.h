// A file as memory that the system reads when it is used.
#pragma once

#include <filesystem>
#include <string_view>

namespace wasmformer {

class MappedFile {
 public:
  // Throws Error if the file cannot be read.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace wasmformer
