#include "cli/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "schema/error.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw Error(ErrorCode::files,
              "cannot " + std::string(what) + " '" + path + "': " + std::generic_category().message(errno));
}

void write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

// The bytes of a file as they arrive, unpacked.
class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : name_(path == "-" ? "standard input" : path), may_be_packed_(path == "-" || path.ends_with(".gz")) {
    if (path != "-") file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail("read", name_);
    struct stat facts;
    const bool has_end = ::fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode);
    if (has_end) size_ = static_cast<double>(facts.st_size);
  }
  ~InputFile() {
    if (file_ != STDIN_FILENO) ::close(file_);
    if (is_packed_) inflateEnd(&gzip_);
  }
  InputFile(const InputFile&) = delete;

  const std::string& name() const { return name_; }

  // Appends at least one byte; false at the end.
  bool read(std::string& bytes) {
    const std::size_t before = bytes.size();
    taken_ = 0;
    while (!ended_ && bytes.size() == before) {
      read_chunk();
      taken_ += chunk_.size();
      if (is_packed_)
        unpack(bytes);
      else
        bytes += chunk_;
    }
    read_ += static_cast<double>(taken_);
    unpacked_ += static_cast<double>(bytes.size() - before);
    return bytes.size() > before;
  }

  // Bytes that the last call of read() took from the file, as they lie there.
  std::size_t bytes_taken() const { return taken_; }

  // The share of the file that is read, less its last `unused` unpacked bytes; none without a known end.
  std::optional<double> share_read(std::size_t unused) const {
    if (size_ == 0 || unpacked_ == 0) return std::nullopt;
    const double used = read_ * (1 - static_cast<double>(unused) / unpacked_);
    return std::min(1.0, used / size_);
  }

  // True if the next read returns at once. A read that did not fill the chunk has emptied the pipe.
  bool is_ready() const {
    if (ended_) return true;
    if (chunk_.size() < chunk_bytes) return false;
#ifdef __EMSCRIPTEN__
    // A pipe never fills a chunk there, so this is a regular file, on which Emscripten's poll() fails.
    return true;
#else
    pollfd wanted{file_, POLLIN, 0};
    return ::poll(&wanted, 1, 0) > 0;
#endif
  }

 private:
  // More than a pipe holds.
  static constexpr std::size_t chunk_bytes = 1 << 17;

  void read_chunk() {
    chunk_.resize(chunk_bytes);
    ssize_t n;
    do n = ::read(file_, chunk_.data(), chunk_bytes);
    while (n < 0 && errno == EINTR);
    if (n < 0) fail("read", name_);
    chunk_.resize(static_cast<std::size_t>(n));
    ended_ = n == 0;
    is_packed_ |=
        may_be_packed_ && chunk_.starts_with("\x1F\x8B") && inflateInit2(&gzip_, /*gzip=*/16 + MAX_WBITS) == Z_OK;
    may_be_packed_ = false;
  }

  // A gzip file may have several members, as `cat a.gz b.gz` makes it, and padding after the last one.
  void unpack(std::string& bytes) {
    gzip_.next_in = reinterpret_cast<Bytef*>(chunk_.data());
    gzip_.avail_in = static_cast<uInt>(chunk_.size());
    do {
      const bool is_padding = has_member_ && gzip_.total_in == 0 && gzip_.avail_in > 0 && *gzip_.next_in != 0x1F;
      ended_ |= is_padding;
      if (is_padding) return;
      const std::size_t size = bytes.size();
      bytes.resize(size + chunk_bytes);
      gzip_.next_out = reinterpret_cast<Bytef*>(bytes.data() + size);
      gzip_.avail_out = chunk_bytes;
      const int status = inflate(&gzip_, Z_NO_FLUSH);
      bytes.resize(bytes.size() - gzip_.avail_out);
      has_member_ |= status == Z_STREAM_END;
      if (status == Z_STREAM_END)
        inflateReset(&gzip_);  // total_in is 0 between members
      else
        require_intact(status == Z_OK || status == Z_BUF_ERROR);
    } while (gzip_.avail_in > 0 || gzip_.avail_out == 0);
    require_intact(!ended_ || gzip_.total_in == 0);
  }

  void require_intact(bool is_intact) const {
    WASMFORMER_CHECK(is_intact, ErrorCode::files,
                     "cannot read '" << name_ << "': its gzip data is damaged or cut short");
  }

  std::string name_, chunk_;
  int file_ = STDIN_FILENO;
  double size_ = 0, read_ = 0, unpacked_ = 0;  // bytes of the file, those read, and what they unpack to
  std::size_t taken_ = 0;
  bool may_be_packed_, is_packed_ = false, has_member_ = false, ended_ = false;
  z_stream gzip_{};
};

LineReader::LineReader(const std::string& path, Damaged damaged)
    : input_(std::make_unique<InputFile>(path)), damaged_(std::move(damaged)) {}
LineReader::~LineReader() = default;

bool LineReader::next(std::string& line) {
  std::size_t end = bytes_.find('\n', begin_);
  if (end == std::string::npos) {
    bytes_.erase(0, begin_);
    begin_ = 0;
    for (std::size_t searched = bytes_.size(); end == std::string::npos && input_->read(bytes_);
         searched = bytes_.size())
      end = bytes_.find('\n', searched);
    if (bytes_.empty()) return false;
    end = std::min(end, bytes_.size());
  }
  std::string_view text = std::string_view(bytes_).substr(begin_, end - begin_);
  begin_ = std::min(end + 1, bytes_.size());
  if (lines_++ == 0 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  if (text.ends_with('\r')) text.remove_suffix(1);
  const bool is_damaged = !is_utf8(text);
  WASMFORMER_CHECK(!is_damaged || damaged_, ErrorCode::files,
                   "line " << lines_ << " of '" << input_->name() << "' is not UTF-8");
  if (is_damaged) damaged_(lines_);
  line = is_damaged ? std::string_view() : text;
  return true;
}

bool LineReader::is_ready() const { return bytes_.find('\n', begin_) != std::string::npos || input_->is_ready(); }

std::optional<double> LineReader::share_read() const { return input_->share_read(bytes_.size() - begin_); }

std::vector<std::string> LineReader::next_part(std::size_t max_lines, std::size_t max_bytes) {
  std::vector<std::string> part;
  std::size_t bytes = 0;
  for (std::string line; part.size() < max_lines && bytes < max_bytes; bytes += line.size()) {
    if (!part.empty() && !is_ready()) break;
    if (!next(line)) break;
    part.push_back(line);
  }
  return part;
}

void check_damaged(std::size_t damaged, std::size_t lines) {
  WASMFORMER_CHECK(
      damaged == 0, ErrorCode::files,
      damaged << " of " << lines << " lines " << (damaged == 1 ? "is" : "are") << " not UTF-8 and left empty");
}

std::string read_file(const std::string& path, const std::function<void(std::size_t)>& progress) {
  InputFile input(path);
  std::string bytes;
  while (input.read(bytes))
    if (progress) progress(input.bytes_taken());
  return bytes;
}

std::vector<std::string> read_lines(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

FileWriter::FileWriter(const std::string& path) : path_(path), target_(path) {
  if (path == "-") {
    path_ = "standard output";
    file_ = STDOUT_FILENO;
  } else {
    std::error_code none;
    // A rename would replace a link, or a device such as /dev/null, by a file.
    if (fs::is_symlink(path, none)) target_ = fs::weakly_canonical(path, none).string();
    if (fs::exists(target_, none) && !fs::is_regular_file(target_, none))
      file_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    else
      open_unfinished();
  }
  if (file_ < 0) fail("write", path_);
}

// Opens a new file under an unused name, with the permissions of the file that it will replace.
void FileWriter::open_unfinished() {
  std::random_device random;
  do {
    unfinished_ = target_ + "." + std::to_string(random()) + ".unfinished";
    file_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  struct stat old;
  if (file_ >= 0 && ::stat(target_.c_str(), &old) == 0) ::fchmod(file_, old.st_mode & 07777);
}

FileWriter::~FileWriter() {
  if (file_ < 0 || file_ == STDOUT_FILENO) return;
  ::close(file_);
  if (!unfinished_.empty()) ::unlink(unfinished_.c_str());
}

void FileWriter::write(std::string_view bytes) { write_all(file_, bytes, path_); }

void FileWriter::commit() {
  if (unfinished_.empty()) return;
  if (::fsync(file_) != 0 || std::rename(unfinished_.c_str(), target_.c_str()) != 0) fail("write", path_);
  ::close(std::exchange(file_, -1));
  // So that the new name survives a crash. Not every file system can sync a folder, so failure is no error.
  const std::string folder = fs::path(target_).parent_path().string();
  const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

void write_file_atomically(const std::string& path, std::string_view bytes,
                           const std::function<void(std::size_t)>& progress) {
  constexpr std::size_t step_bytes = 1 << 22;
  FileWriter file(path);
  for (std::size_t begin = 0; begin < bytes.size(); begin += step_bytes) {
    const std::string_view part = bytes.substr(begin, step_bytes);
    file.write(part);
    if (progress) progress(begin + part.size());
  }
  file.commit();
}

void print(std::string_view text) { write_all(STDOUT_FILENO, text, "standard output"); }

void print_formatted(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, arguments)) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, again);
  va_end(again);
  va_end(arguments);
  text.pop_back();
  print(text);
}

}  // namespace wasmformer
