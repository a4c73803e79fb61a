#include "cli/files.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <catch_amalgamated.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "schema/error.h"

using namespace wasmformer;
namespace fs = std::filesystem;

namespace {

// A fresh folder, removed at the end of a test.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "wasmformer-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(path)) all.push_back(entry.path().filename().string());
    return all;
  }
};

void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string get(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string gzip(const std::string& path, const std::string& bytes) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return get(path);
}

}  // namespace

TEST_CASE("Files are read unchanged, and .gz files are unpacked") {
  const Folder folder;
  const std::string bytes = std::string("a\0b\r\n", 5) + std::string(200000, 'x');
  put(folder / "plain", bytes);
  CHECK(read_file(folder / "plain") == bytes);
  const std::string packed = gzip(folder / "packed.gz", bytes);
  CHECK(packed.size() < 2000);
  CHECK(read_file(folder / "packed.gz") == bytes);
  put(folder / "twice.gz", packed + packed);  // as `cat a.gz b.gz` makes it
  CHECK(read_file(folder / "twice.gz") == bytes + bytes);
  put(folder / "empty", "");
  CHECK(read_file(folder / "empty").empty());
  gzip(folder / "empty.gz", "");
  CHECK(read_file(folder / "empty.gz").empty());
}

TEST_CASE("Read errors name the file") {
  const Folder folder;
  CHECK_THROWS_WITH(read_file(folder / "none"),
                    "[files] cannot read '" + (folder / "none") + "': No such file or directory");
  CHECK_THROWS_WITH(read_file(folder / "none.gz"),
                    "[files] cannot read '" + (folder / "none.gz") + "': No such file or directory");
  CHECK_THROWS_WITH(read_file(folder.path.string()),
                    "[files] cannot read '" + folder.path.string() + "': Is a directory");
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * i);
  const std::string packed = gzip(folder / "cut.gz", text);
  for (const std::size_t size : {packed.size() - 1, packed.size() - 9, packed.size() / 2, std::size_t{12}}) {
    INFO(size);
    put(folder / "cut.gz", packed.substr(0, size));
    CHECK_THROWS_WITH(read_file(folder / "cut.gz"),
                      Catch::Matchers::ContainsSubstring("cut.gz': its gzip data is damaged or cut short"));
  }
}

TEST_CASE("Lines end with LF or CRLF; the last one may end with neither") {
  const Folder folder;
  const auto lines = [&folder](const std::string& text) {
    put(folder / "text", text);
    return read_lines(folder / "text");
  };
  using Lines = std::vector<std::string>;
  CHECK(lines("") == Lines{});
  CHECK(lines("\n") == Lines{""});
  CHECK(lines("a\nb\n") == Lines{"a", "b"});
  CHECK(lines("a\r\n\r\nb") == Lines{"a", "", "b"});
  CHECK(lines("a\rb\n \n") == Lines{"a\rb", " "});
  CHECK(lines("\xEF\xBB\xBF\u00FC\n") == Lines{"\u00FC"});
  CHECK(lines("a\u2028b\u0085c\n") == Lines{"a\u2028b\u0085c"});
  gzip(folder / "text.gz", "one\ntwo\n");
  CHECK(read_lines(folder / "text.gz") == Lines{"one", "two"});
}

TEST_CASE("An error names the line that is not UTF-8") {
  const Folder folder;
  put(folder / "text", "fine\n\u00FC\nbad \xFC\nfine\n");
  CHECK_THROWS_WITH(read_lines(folder / "text"), "[files] line 3 of '" + (folder / "text") + "' is not UTF-8");
}

TEST_CASE("A line that is not UTF-8 can cost only itself") {
  const Folder folder;
  put(folder / "text", "fine\nbad \xFC\n\xFF\nfine\n");
  std::vector<std::size_t> damaged;
  LineReader reader(folder / "text", [&](std::size_t line) { damaged.push_back(line); });
  CHECK(reader.next_part(10, 1000) == std::vector<std::string>{"fine", "", "", "fine"});
  CHECK(damaged == std::vector<std::size_t>{2, 3});
}

TEST_CASE("A new file replaces the old one completely") {
  const Folder folder;
  const std::string path = folder / "file", bytes = std::string("\0\n\xFF", 3) + std::string(300000, 'y');
  write_file_atomically(path, "old");
  write_file_atomically(path, bytes);
  CHECK(get(path) == bytes);
  CHECK(folder.names() == std::vector<std::string>{"file"});
  // The rights of an ordinary new file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat status;
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == (0666 & ~mask));
}

TEST_CASE("Writing through a link or to a device keeps the link or device") {
  const Folder folder;
  put(folder / "file", "old");
  fs::create_symlink("file", folder.path / "link");
  write_file_atomically(folder / "link", "new");
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(get(folder / "file") == "new");
  write_file_atomically("/dev/null", "nothing");
  CHECK(fs::is_character_file("/dev/null"));
  CHECK_THROWS_WITH(write_file_atomically("/dev/full", "x"),
                    "[files] cannot write '/dev/full': No space left on device");
}

TEST_CASE("Write errors name the file and leave nothing behind") {
  const Folder folder;
  const std::string path = folder / "none/file";
  CHECK_THROWS_WITH(write_file_atomically(path, "x"), "[files] cannot write '" + path + "': No such file or directory");
  fs::create_directory(folder.path / "folder");
  CHECK_THROWS_WITH(write_file_atomically(folder / "folder", "x"),
                    "[files] cannot write '" + (folder / "folder") + "': Is a directory");
  CHECK(folder.names() == std::vector<std::string>{"folder"});
}

TEST_CASE("If the disk fills up during a write, the old file stays") {
  const Folder folder;
  const std::string path = folder / "file", old(1000, 'o');
  put(path, old);
  // A limit on the size of files stands for the full disk; in a process of its own, as it cannot be taken
  // back.
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);  // as the program does
    const rlimit limit = {100000, 100000};
    int result = 1;
    try {
      if (::setrlimit(RLIMIT_FSIZE, &limit) == 0) write_file_atomically(path, std::string(1000000, 'n'));
    } catch (const Error& error) {
      result = error.what() == "[files] cannot write '" + path + "': File too large" ? 0 : 2;
    }
    ::_exit(result);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(get(path) == old);
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("A new file keeps the permissions of the old one, and links with its name are not followed") {
  const Folder folder;
  const std::string path = folder / "file";
  put(path, "old");
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  write_file_atomically(path, "new");
  struct stat status;
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  // Where the unfinished file of an earlier version was.
  put(folder / "victim", "precious");
  fs::create_symlink("victim", folder.path / "file.unfinished");
  write_file_atomically(path, "newer");
  CHECK(get(folder / "victim") == "precious");
}

TEST_CASE("Two writers of one file do not mix their data") {
  const Folder folder;
  const std::string path = folder / "file", a(300000, 'a'), b(300000, 'b');
  FileWriter first(path), second(path);
  for (std::size_t at = 0; at < a.size(); at += 100000) {
    first.write(std::string_view(a).substr(at, 100000));
    second.write(std::string_view(b).substr(at, 100000));
  }
  second.commit();
  CHECK(get(path) == b);
  first.commit();
  CHECK(get(path) == a);
  CHECK(folder.names() == std::vector<std::string>{"file"});
  { FileWriter(path).write("given up"); }
  CHECK(get(path) == a);
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("Lines are read from a pipe as they arrive") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  const auto send = [&](const std::string& text) {
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  };
  using Lines = std::vector<std::string>;
  send("one\ntwo\nthr");
  CHECK(reader.next_part(1, 100) == Lines{"one"});
  CHECK(reader.next_part(5, 100) == Lines{"two"});
  send("ee\r\nlast");
  ::close(ends[1]);
  CHECK(reader.next_part(5, 5) == Lines{"three"});
  CHECK(reader.next_part(5, 100) == Lines{"last"});
  CHECK(reader.next_part(5, 100).empty());
  ::close(ends[0]);
}
