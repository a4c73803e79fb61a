// Takes the place of SentencePiece's filesystem.cc in WebAssembly: C's files instead of C++'s streams, for the reason
// that plain_streams.h gives.
#include <cerrno>
#include <cstdio>

#include "filesystem.h"
#include "third_party/absl/memory/memory.h"
#include "util.h"

namespace sentencepiece::filesystem {
namespace {

class File {
 public:
  File(absl::string_view name, const char* mode) : file_(std::fopen(std::string(name).c_str(), mode)) {
    if (file_ == nullptr)
      status_ = util::StatusBuilder(util::StatusCode::kNotFound, GTL_LOC)
                << "\"" << std::string(name) << "\": " << util::StrError(errno);
  }
  ~File() {
    if (file_ != nullptr) std::fclose(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::FILE* get() const { return file_; }
  const util::Status& status() const { return status_; }

 private:
  std::FILE* file_;
  util::Status status_;
};

class PlainReadableFile : public ReadableFile {
 public:
  explicit PlainReadableFile(absl::string_view name) : file_(name, "rb") {}
  util::Status status() const override { return file_.status(); }

  bool ReadLine(std::string* line) override {
    line->clear();
    int c = std::getc(file_.get());
    if (c == EOF) return false;
    for (; c != EOF && c != '\n'; c = std::getc(file_.get())) line->push_back(static_cast<char>(c));
    return true;
  }

  bool ReadAll(std::string* text) override {
    text->clear();
    char some[4096];
    while (const std::size_t count = std::fread(some, 1, sizeof(some), file_.get())) text->append(some, count);
    return std::ferror(file_.get()) == 0;
  }

 private:
  File file_;
};

class PlainWritableFile : public WritableFile {
 public:
  explicit PlainWritableFile(absl::string_view name) : file_(name, "wb") {}
  util::Status status() const override { return file_.status(); }
  bool Write(absl::string_view text) override {
    return std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  }
  bool WriteLine(absl::string_view text) override { return Write(text) && Write("\n"); }

 private:
  File file_;
};

}  // namespace

std::unique_ptr<ReadableFile> NewReadableFile(absl::string_view name, bool) {
  return absl::make_unique<PlainReadableFile>(name);
}
std::unique_ptr<WritableFile> NewWritableFile(absl::string_view name, bool) {
  return absl::make_unique<PlainWritableFile>(name);
}

}  // namespace sentencepiece::filesystem
