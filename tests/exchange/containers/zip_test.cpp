#include "exchange/containers/zip.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tests/exchange/containers/stored_zip.h"
#include "tests/support.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

StoredZip sample() {
  StoredZip zip;
  zip.files = {{"a/b.txt", "hello"}, {"c", ""}, {"d", "wor\0ld"}};
  return zip;
}

}  // namespace

TEST_CASE("A zip archive's stored files are read") {
  const std::string bytes = sample().bytes();
  CHECK(is_zip(bytes));
  CHECK_FALSE(is_zip("PK"));
  const auto files = parse_zip(bytes);
  REQUIRE(files.size() == 3);
  CHECK(files.at("a/b.txt") == "hello");
  CHECK(files.at("c").empty());
  const std::string commented = bytes.substr(0, bytes.size() - 2) + std::string("\x03\0abc", 5);
  CHECK(parse_zip(commented).size() == 3);
}

TEST_CASE("A zip64 archive is read as PyTorch writes it") {
  const std::string bytes = read_file(own_fixtures_path() + "/marian/tiny/pytorch_model.bin");
  REQUIRE(bytes.find("PK\x06\x06") != std::string::npos);
  CHECK(parse_zip(bytes).at("pytorch_model/version") == "3\n");
}

TEST_CASE("Inconsistent archives are refused") {
  StoredZip zip = sample();
  std::string message;
  std::string bytes;
  SECTION("a compressed file") {
    zip.method = 8;
    message = "[zip] 'a/b.txt' is compressed; only stored files can be read";
  }
  SECTION("a size larger than the stored one") {
    zip.extra_size = 1 << 30;
    message = "[zip] 'a/b.txt' is compressed";
  }
  SECTION("a wrong offset") {
    zip.extra_offset = 3;
    message = "[zip] there is no file at byte 3";
  }
  SECTION("a file beyond the end") {
    zip.extra_offset = 1 << 30;
    message = "[zip] the archive is truncated";
  }
  SECTION("no archive") {
    bytes = "hello";
    message = "[zip] the archive has no directory at its end";
  }
  SECTION("two entries of one file, as zip bombs have") {
    bytes = zip.bytes();
    // The second entry of the directory points at the first file, which both then are.
    const std::size_t first = bytes.find("PK\x01\x02"), second = bytes.find("PK\x01\x02", first + 1);
    for (std::size_t i = 20; i < 28; ++i) bytes[second + i] = bytes[first + i];
    for (std::size_t i = 42; i < 46; ++i) bytes[second + i] = bytes[first + i];
    message = "after the next begins";
  }
  SECTION("a repeated name") {
    zip.files = {{"a", "1"}, {"b", "2"}};
    bytes = zip.bytes();
    bytes[bytes.rfind('b')] = 'a';
    message = "[zip] the name 'a' occurs twice";
  }
  SECTION("more files than fit") {
    bytes = zip.bytes();
    bytes[bytes.size() - 12] = '\xFF';
    message = "[zip] a directory of 255 files";
  }
  SECTION("encryption") {
    bytes = zip.bytes();
    bytes[bytes.find("PK\x01\x02") + 8] = 1;
    message = "[zip] 'a/b.txt' is encrypted";
  }
  if (bytes.empty()) bytes = zip.bytes();
  CHECK_THROWS_WITH(parse_zip(bytes), ContainsSubstring(message));
}

TEST_CASE("A truncated archive is refused") {
  const std::string bytes = sample().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO(size);
    CHECK_THROWS_AS(parse_zip(std::string_view(bytes).substr(0, size)), Error);
  }
}
