#include <catch_amalgamated.hpp>
#include <cstdint>

#include "schema/error.h"
#include "tests/support.h"
#include "tests/text/tiny_tokenizer.h"
#include "text/tokenizer.h"

using namespace wasmformer;

namespace {

// The rule "a becomes b" as a double array of two blocks (https://github.com/s-yata/darts-clone): the root
// leads to the node at 0x100, from there "a" to the node at 0x160, where the place of the replacement stands.
struct Rules {
  std::vector<std::uint32_t> units = std::vector<std::uint32_t>(512);
  std::string replacements{"b\0", 2};

  Rules() {
    units[0] = 0x100 << 10;
    units[0x161] = 1 << 10 | 1 << 8 | 'a';
    units[0x160] = 0x80000000;
  }
  std::string bytes() const {
    const std::string trie(reinterpret_cast<const char*>(units.data()), units.size() * sizeof units[0]);
    return bytes(static_cast<std::uint32_t>(trie.size()), trie);
  }
  std::string bytes(std::uint32_t size, const std::string& trie) const {
    return std::string(reinterpret_cast<const char*>(&size), sizeof size) + trie + replacements;
  }
};

bool loads(const std::string& charsmap) {
  try {
    Tokenizer(tiny::model({"a", "b"}, charsmap)).encode("abc \xF0\x9F\x98\x80");
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("Normalization rules are applied") {
  const Tokenizer tokenizer(tiny::model({"a", "b"}, Rules().bytes()));
  CHECK(tokenizer.encode("ab") == std::vector<TokenId>{4, 6, 6});
}

TEST_CASE("Normalization rules that point outside their bytes are refused") {
  Rules rules;
  REQUIRE(loads(rules.bytes()));
  SECTION("the root leads behind the trie") { rules.units[0] = 0x200 << 10; }
  SECTION("the root leads far away") { rules.units[0] = 0x1FFFFF << 10 | 1 << 9; }
  SECTION("a node leads behind the trie") { rules.units[0x161] = 0x200 << 10 | 1 << 8 | 'a'; }
  SECTION("a replacement lies behind the text of them") { rules.units[0x160] = 0x80000002; }
  SECTION("the last replacement has no end") { rules.replacements = "bb"; }
  SECTION("there is no replacement") { rules.replacements = ""; }
  SECTION("there is less than a block") { rules.units.resize(300); }
  SECTION("endless matches") {
    for (std::uint32_t i = 0x100; i < 0x200; ++i) rules.units[i] = 0x100 << 10 | 1 << 8 | (i & 0xFF);
    // From 0x100 the byte b leads to 0x100 ^ b, and by the offset 0x100 ^ b back to 0x100.
    for (std::uint32_t b = 0; b < 0x100; ++b) rules.units[0x100 ^ b] = b << 10 | 1 << 8 | b;
    rules.units[0x100] = 1 << 8;
  }
  CHECK_FALSE(loads(rules.bytes()));
}

// 40 nodes, each with 255 ways to the next: as many ways to the last as no walk along each of them ends.
TEST_CASE("Normalization rules with many paths to a node are checked in linear time") {
  Rules rules;
  constexpr std::uint32_t nodes = 40;
  rules.units.assign((nodes + 2) * 0x100, 0);
  rules.units[0] = 0x100 << 10;
  for (std::uint32_t i = 1; i <= nodes; ++i)
    for (std::uint32_t b = 1; b < 0x100; ++b)
      // From i · 0x100 the byte b leads to (i + 1) · 0x100.
      rules.units[(i * 0x100) ^ b] = ((i * 0x100) ^ b ^ ((i + 1) * 0x100)) << 10 | b;
  CHECK(loads(rules.bytes()));
  SECTION("a loop") { rules.units[(nodes * 0x100) ^ 'a'] = ((nodes * 0x100) ^ 'a' ^ 0x100) << 10 | 'a'; }
  SECTION("33 matches on one path") {
    for (std::uint32_t i = 1; i <= 33; ++i) {
      rules.units[(i * 0x100) ^ 'a'] |= 1 << 8;
      rules.units[(i + 1) * 0x100] = 0x80000000;
    }
  }
  CHECK_FALSE(loads(rules.bytes()));
}

TEST_CASE("Normalization rules with a wrong length are refused") {
  const Rules rules;
  const std::string trie = rules.bytes().substr(4, 2048);
  const std::uint32_t size = GENERATE(0u, 3u, 2047u, 2050u, 2051u, 4096u, 0xFFFFFFFFu);
  CHECK_FALSE(loads(rules.bytes(size, trie)));
}

TEST_CASE("A real model with damaged rules is refused") {
  std::string model = read_file(own_fixtures_path() + "/sentencepiece/iwslt17-spm_bpe.model");
  REQUIRE_NOTHROW(Tokenizer(model));
  // The rules fill the last two thirds of this file.
  for (std::size_t i = model.size() / 2; i < model.size() * 3 / 4; i += 5) model[i] = static_cast<char>(i * 37);
  CHECK_THROWS_AS(Tokenizer(model), Error);
}
