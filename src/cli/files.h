// The only place that opens files and writes to standard output. All errors name the file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wasmformer {

class InputFile;

// The bytes of a file; `.gz` is unpacked; `-` is standard input, which may be packed too. `progress`: called with the
// bytes that each step has read from it, packed ones if it is packed.
std::string read_file(const std::string& path, const std::function<void(std::size_t)>& progress = {});

// Reads a file, as read_file() does, line by line. Lines are UTF-8 and end with LF or CRLF.
class LineReader {
 public:
  // Called with the number of a line that is not UTF-8, which is then read as an empty line. Without it, next()
  // throws an Error that names the line.
  using Damaged = std::function<void(std::size_t)>;
  explicit LineReader(const std::string& path, Damaged damaged = {});
  ~LineReader();

  // False at the end.
  bool next(std::string& line);
  // The next lines: no more than `max_lines`, and none after `max_bytes`; from a pipe those that have arrived so far,
  // but at least one. Empty at the end.
  std::vector<std::string> next_part(std::size_t max_lines, std::size_t max_bytes);
  // False if next() may have to wait, because the other end of a pipe has not written more yet.
  bool is_ready() const;
  // The share of the file that the lines so far take, of a packed one about; none of a pipe, whose end is not known.
  std::optional<double> share_read() const;

 private:
  std::unique_ptr<InputFile> input_;
  Damaged damaged_;
  std::string bytes_;
  std::size_t begin_ = 0, lines_ = 0;  // begin_: of the next line, in bytes_
};

// After all else is written: throws Error, so that the exit code tells, if some lines were not UTF-8.
void check_damaged(std::size_t damaged, std::size_t lines);

std::vector<std::string> read_lines(const std::string& path);

// Writes a file that appears under its name whole or not at all: until commit() the old file stays. `-` is
// standard output. All throw Error saying why they failed.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter();

  void write(std::string_view bytes);
  void commit();

 private:
  void open_unfinished();

  std::string path_, target_, unfinished_;  // no `unfinished_` for a device or standard output
  int file_ = -1;
};
// `progress`: called with the bytes written so far, from time to time.
void write_file_atomically(const std::string& path, std::string_view bytes,
                           const std::function<void(std::size_t)>& progress = {});

// To standard output, at once. Throws Error when not all of it can be written.
void print(std::string_view text);
[[gnu::format(printf, 1, 2)]] void print_formatted(const char* format, ...);  // as printf()

}  // namespace wasmformer
