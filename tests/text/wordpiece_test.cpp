#include "text/wordpiece.h"

#include <catch_amalgamated.hpp>
#include <nlohmann/json.hpp>

#include "schema/error.h"
#include "tests/support.h"
#include "text/tokenizer.h"
#include "text/unicode/letters.h"
#include "text/unicode/unicode.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

// FNV-1a of the words of a text with each character of Unicode, as tests/fixtures/bert/make.py computes it.
std::string checksum(const WordPieceRules& rules) {
  std::uint64_t value = 0xcbf29ce484222325;
  std::string text;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string joined;
    for (const std::string& word : wordpiece_words(encode_utf8(std::u32string{'a', c, 'b'}), rules))
      joined += (joined.empty() ? "" : "\n") + word;
    for (const char byte : joined + '\0') value = (value ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3;
  }
  std::ostringstream hex;
  hex << std::hex << std::setw(16) << std::setfill('0') << value;
  return hex.str();
}

const std::vector<std::string> vocabulary{"[PAD]",  "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un",  "##aff",
                                          "##able", "a",     "##b",   "##bc",  "##cd",   "##c", "!"};

}  // namespace

TEST_CASE("Every Unicode character is a letter, a word, a space or nothing, as in BERT") {
  const auto expected = nlohmann::json::parse(read_file(own_fixtures_path() + "/bert/expected.json"))["characters"];
  CHECK(checksum({}) == expected["uncased"]);
  CHECK(checksum({false, false, true}) == expected["cased"]);
  CHECK(checksum({true, false, true}) == expected["lower"]);
}

TEST_CASE("Chinese characters are separated only by their rule") {
  CHECK(wordpiece_words("a我爱b", {}) == std::vector<std::string>{"a", "我", "爱", "b"});
  CHECK(wordpiece_words("a我爱b", {true, true, false}) == std::vector<std::string>{"a我爱b"});
}

TEST_CASE("A word is split into its longest pieces from the left, even if the rest then cannot be spelled") {
  const Tokenizer tokenizer(wordpiece_model(vocabulary, {}, {}));
  CHECK(tokenizer.encode("Unaffable!") == std::vector<TokenId>{5, 6, 7, 13});
  CHECK(tokenizer.encode("abc") == std::vector<TokenId>{8, 10});
  CHECK(tokenizer.encode("abcd") == std::vector<TokenId>{1});  // a ##b ##cd would spell it
  CHECK(tokenizer.encode("abcc") == std::vector<TokenId>{8, 10, 12});
  CHECK(tokenizer.encode("b") == std::vector<TokenId>{1});
  CHECK(tokenizer.encode("\u2581") == std::vector<TokenId>{1});
  CHECK(tokenizer.encode("a\u2581un") == std::vector<TokenId>{1});  // no ##\u2581un
  CHECK(tokenizer.encode("[CLS]") == std::vector<TokenId>{1, 1, 1});
  CHECK(tokenizer.encode("").empty());
  CHECK_THROWS_WITH(tokenizer.encode("\xFF"), ContainsSubstring("not UTF-8"));
}

TEST_CASE("A WordPiece tokenizer is stored as a SentencePiece model whose pieces mark word starts") {
  const std::string bytes = wordpiece_model(vocabulary, {}, {true, false, true});
  const Tokenizer tokenizer(bytes);
  CHECK(tokenizer.vocab_size() == 14);
  CHECK(tokenizer.pad_id() == 0);
  CHECK(tokenizer.unk_id() == 1);
  CHECK(tokenizer.bos_id() == 2);
  CHECK(tokenizer.eos_id() == 3);
  CHECK(tokenizer.piece(5) == "\u2581un");
  CHECK(tokenizer.piece(6) == "aff");
  CHECK(tokenizer.piece(4) == "[MASK]");
  CHECK(tokenizer.decode({2, 5, 6, 7, 13, 8, 3, 0}) == "unaffable ! a");
  CHECK(wordpiece_vocabulary(bytes) == vocabulary);
  const std::vector<std::string> marks{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2581", "##\u2581"};
  CHECK(wordpiece_vocabulary(wordpiece_model(marks, {}, {})) == marks);
}

TEST_CASE("An unusable vocabulary is refused, naming the line") {
  const auto with = [](const char* line) {
    std::vector<std::string> lines = vocabulary;
    lines.emplace_back(line);
    return lines;
  };
  CHECK_THROWS_WITH(wordpiece_model(with("un"), {}, {}),
                    "[wordpiece] the vocabulary has 'un' twice, in lines 6 and 15");
  CHECK_THROWS_WITH(wordpiece_model(with(""), {}, {}), "[wordpiece] line 15 of the vocabulary is empty");
  CHECK_THROWS_WITH(wordpiece_model(vocabulary, {.sep = "</s>"}, {}), "[wordpiece] the vocabulary has no </s>");
  CHECK_THROWS_WITH(Tokenizer(wordpiece_model(with("\xFF"), {}, {})), ContainsSubstring("not UTF-8"));
}
