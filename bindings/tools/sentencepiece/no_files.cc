// Takes the place of SentencePiece's filesystem.cc in WebAssembly: texts and models are passed as values, not as files.
#include "filesystem.h"

#include "third_party/absl/memory/memory.h"

namespace sentencepiece::filesystem {
namespace {

util::Status no_files() { return util::Status(util::StatusCode::kUnimplemented, "there are no files here"); }

class NoReadableFile : public ReadableFile {
 public:
  util::Status status() const override { return no_files(); }
  bool ReadLine(std::string*) override { return false; }
  bool ReadAll(std::string*) override { return false; }
};

class NoWritableFile : public WritableFile {
 public:
  util::Status status() const override { return no_files(); }
  bool Write(absl::string_view) override { return false; }
  bool WriteLine(absl::string_view) override { return false; }
};

}  // namespace

std::unique_ptr<ReadableFile> NewReadableFile(absl::string_view, bool) { return absl::make_unique<NoReadableFile>(); }
std::unique_ptr<WritableFile> NewWritableFile(absl::string_view, bool) { return absl::make_unique<NoWritableFile>(); }

}  // namespace sentencepiece::filesystem
