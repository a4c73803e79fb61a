// To add a model: put MODEL.model into a folder `sentencepiece`, beside an input.txt and what spm_encode says
// to it, MODEL.model.ids and MODEL.model.pieces.
#include "text/tokenizer.h"

#include <catch_amalgamated.hpp>
#include <filesystem>
#include <sstream>

#include "schema/error.h"
#include "tests/support.h"
#include "tests/text/tiny_tokenizer.h"

using namespace wasmformer;

namespace {

std::vector<std::string> lines(const std::string& path) {
  std::istringstream text(read_file(path));
  std::vector<std::string> all;
  for (std::string line; std::getline(text, line);) all.push_back(line);
  return all;
}

// At single spaces: an unknown piece may hold other white space.
std::vector<std::string> words(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> all;
  for (std::string word; std::getline(text, word, ' ');) all.push_back(word);
  return all;
}

std::vector<std::string> models() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(own_fixtures_path())) {
    const auto& path = entry.path();
    if (path.parent_path().filename() == "sentencepiece" && path.extension() == ".model")
      paths.push_back(path.string());
  }
  return paths;
}

}  // namespace

TEST_CASE("Ids and pieces match spm_encode") {
  const auto paths = models();
  REQUIRE(!paths.empty());
  for (const std::string& path : paths) {
    INFO(path);
    const Tokenizer tokenizer(read_file(path));
    const auto input = lines((std::filesystem::path(path).parent_path() / "input.txt").string());
    const auto ids = lines(path + ".ids"), pieces = lines(path + ".pieces");
    REQUIRE(!input.empty());
    REQUIRE(ids.size() == input.size());
    REQUIRE(pieces.size() == input.size());
    for (std::size_t i = 0; i < input.size(); ++i) {
      INFO("line " << i + 1 << ": " << input[i]);
      const auto encoded = tokenizer.encode(input[i]);
      const auto expected_ids = words(ids[i]), expected = words(pieces[i]);
      REQUIRE(encoded.size() == expected_ids.size());
      REQUIRE(encoded.size() == expected.size());
      for (std::size_t j = 0; j < encoded.size(); ++j) {
        CHECK(std::to_string(encoded[j]) == expected_ids[j]);
        // For the unknown token spm_encode prints the text that it stands for.
        if (encoded[j] != tokenizer.unk_id()) CHECK(tokenizer.piece(encoded[j]) == expected[j]);
      }
    }
  }
}

TEST_CASE("A tokenizer knows its special tokens and restores the text") {
  const Tokenizer tokenizer(tiny::model({"a", "b", "\u00E9"}));
  CHECK(tokenizer.vocab_size() == 8);
  CHECK(tokenizer.pad_id() == 0);
  CHECK(tokenizer.unk_id() == 1);
  CHECK(tokenizer.bos_id() == 2);
  CHECK(tokenizer.eos_id() == 3);
  CHECK(tokenizer.piece(4) == "\u2581");
  CHECK(tokenizer.encode("ab \u00E9a") == std::vector<TokenId>{4, 5, 6, 4, 7, 5});
  CHECK(tokenizer.decode({4, 5, 6, 4, 7, 5}) == "ab \u00E9a");
  CHECK(tokenizer.decode({2, 4, 5, 0, 0, 6, 3}) == "ab");
  CHECK(tokenizer.encode("").empty());
  CHECK(tokenizer.decode({}).empty());
  CHECK(tokenizer.encode("axb") == std::vector<TokenId>{4, 5, 1, 6});
  CHECK(tokenizer.model() == tiny::model({"a", "b", "\u00E9"}));
}

TEST_CASE("A separate vocabulary determines the ids") {
  // Of the model's letters it lacks b; x, \u2581y and the language are of no model.
  const std::vector<std::string> vocabulary{"</s>", "a", "\u2581", "<unk>", "x", ">>de<<", "\u2581y", "<pad>"};
  const Tokenizer tokenizer(tiny::model({"a", "b", "x"}), vocabulary);
  CHECK(tokenizer.vocab_size() == 8);
  CHECK(tokenizer.unk_id() == 3);
  CHECK(tokenizer.eos_id() == 0);
  CHECK(tokenizer.pad_id() == 7);
  CHECK(tokenizer.bos_id() == -1);
  CHECK(tokenizer.piece(4) == "x");
  CHECK(tokenizer.encode("ab x") == std::vector<TokenId>{2, 1, 3, 2, 4});
  CHECK(tokenizer.encode(">>de<< a") == std::vector<TokenId>{5, 2, 1});
  CHECK(tokenizer.encode(">>de<<a") == std::vector<TokenId>{5, 2, 1});
  // Only in front, and only one that it has.
  CHECK(tokenizer.encode("a>>fr<<") == std::vector<TokenId>{2, 1, 3});  // one unknown piece
  CHECK(tokenizer.encode(">>fr<<") == std::vector<TokenId>{2, 3});
  CHECK(tokenizer.encode(">>de") == std::vector<TokenId>{2, 3});
  CHECK(tokenizer.decode({2, 1, 4, 2, 1, 0, 7, 7}) == "ax a");
  CHECK(tokenizer.decode({2, 1, 3, 6, 1}) == "a ya");
  CHECK(tokenizer.decode({6, 1}) == "ya");
  CHECK(tokenizer.decode({0}).empty());
  CHECK(tokenizer == Tokenizer(tiny::model({"a", "b", "x"}), vocabulary));
  CHECK_FALSE(tokenizer == Tokenizer(tiny::model({"a", "b", "x"})));
  CHECK_THROWS_WITH(tokenizer.piece(8), "[tokenizer] id 8 is outside the vocabulary of 8 pieces");
}

TEST_CASE("An invalid vocabulary is refused") {
  const auto make = [](std::vector<std::string> vocabulary) { Tokenizer(tiny::model({"a"}), vocabulary); };
  CHECK_THROWS_WITH(make({"</s>", "a"}), "[tokenizer] the vocabulary has no piece <unk>");
  CHECK_THROWS_WITH(make({"<unk>", "a"}), "[tokenizer] the vocabulary has no piece </s>");
  CHECK_THROWS_WITH(make({"<unk>", "a", "</s>", "a"}), "[tokenizer] the vocabulary has 'a' twice, as piece 1 and as 3");
  CHECK_THROWS_WITH(make({"<unk>", "</s>", "\xFF"}), "[tokenizer] piece 2 of the vocabulary is not UTF-8");
}

TEST_CASE("A long text is encoded") {
  const Tokenizer tokenizer(tiny::model({"a"}));
  CHECK(tokenizer.encode(std::string(100000, 'a')).size() == 100001);
}

TEST_CASE("Ids outside the vocabulary and text that is not UTF-8 are refused") {
  const Tokenizer tokenizer(tiny::model({"a"}));
  CHECK_THROWS_WITH(tokenizer.piece(-1), "[tokenizer] id -1 is outside the vocabulary of 6 pieces");
  CHECK_THROWS_WITH(tokenizer.piece(6), "[tokenizer] id 6 is outside the vocabulary of 6 pieces");
  CHECK_THROWS_WITH(tokenizer.decode({5, 6}), "[tokenizer] id 6 is outside the vocabulary of 6 pieces");
  CHECK_THROWS_WITH(tokenizer.encode("a\xFF"), "[tokenizer] the text is not UTF-8");
}

TEST_CASE("Bytes that are not a SentencePiece model are refused") {
  CHECK_THROWS_WITH(Tokenizer(""), "[tokenizer] these 0 bytes are not a SentencePiece model");
  CHECK_THROWS_AS(Tokenizer("a text file\n"), Error);
  CHECK_THROWS_AS(Tokenizer(std::string(1000, '\0')), Error);
  CHECK_THROWS_AS(Tokenizer(std::string(1000, '\xFF')), Error);
  CHECK_THROWS_WITH(Tokenizer(tiny::model({"\xFF"})), "[tokenizer] piece 5 of the model is not UTF-8");
  CHECK_THROWS_AS(Tokenizer(tiny::model({"a", "a"})), Error);
  CHECK_THROWS_AS(Tokenizer(tiny::model({""})), Error);
}

TEST_CASE("A truncated model, or one with any byte changed, loads or is refused") {
  const std::string whole = tiny::model({"a", "b", "c"});
  int refused = 0;
  const auto load = [&refused](const std::string& model) {
    try {
      const Tokenizer tokenizer(model);
      for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) tokenizer.piece(id);
      tokenizer.decode(tokenizer.encode("abc <s> xyz"));
    } catch (const Error&) {
      ++refused;
    }
  };
  for (std::size_t size = 0; size < whole.size(); ++size) load(whole.substr(0, size));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string model = whole;
      model[i] = static_cast<char>(model[i] ^ change);
      load(model);
    }
  }
  CHECK(refused > static_cast<int>(whole.size()) / 2);
}
