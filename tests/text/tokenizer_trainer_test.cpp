#include "text/tokenizer_trainer.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <filesystem>
#include <fstream>

#include "schema/error.h"
#include "text/tokenizer.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

// Sentences of a small grammar.
std::vector<std::string> sentences() {
  const std::vector<std::string> who = {"The old man", "A young woman", "My neighbour", "Our teacher",
                                        "Die Stra\u00DFe"};
  const std::vector<std::string> what = {"watches", "paints", "remembers", "describes", "questions"};
  const std::vector<std::string> whom = {"the river.", "an island!", "the mountains?", "seven houses.",
                                         "\u5929\u6C14."};
  std::vector<std::string> all;
  for (const auto& a : who) {
    for (const auto& b : what) {
      for (const auto& c : whom) all.push_back(a + " " + b + " " + c);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("A trained tokenizer has the size asked for and the project's special ids") {
  const std::string type = GENERATE("bpe", "unigram");
  const auto corpus = sentences();
  const std::string model = train_tokenizer(corpus, {50, type});
  const Tokenizer tokenizer(model);
  CHECK(tokenizer.vocab_size() == 50);
  CHECK(tokenizer.pad_id() == 0);
  CHECK(tokenizer.unk_id() == 1);
  CHECK(tokenizer.bos_id() == 2);
  CHECK(tokenizer.eos_id() == 3);
  for (const auto& sentence : corpus) {
    const auto ids = tokenizer.encode(sentence);
    CHECK(tokenizer.decode(ids) == sentence);
    CHECK(ids.size() < sentence.size());
  }
  // NFKC: a ligature and full-width letters are those letters.
  CHECK(tokenizer.encode("\uFF54\uFF48\uFF45 r\u2170ver") == tokenizer.encode("the river"));
  CHECK(train_tokenizer(corpus, {50, type}) == model);
}

TEST_CASE("Full-width punctuation is kept without normalization") {
  const std::string sentence = "\u4F60\u597D\uFF0C\u4F60\u597D\uFF01";
  const Tokenizer identity(train_tokenizer({sentence}, {100, "char", "identity"}));
  CHECK(identity.decode(identity.encode(sentence)) == sentence);
  const Tokenizer nfkc(train_tokenizer({sentence}, {100, "char"}));
  CHECK(nfkc.decode(nfkc.encode(sentence)) == "\u4F60\u597D,\u4F60\u597D!");
  CHECK_THROWS_WITH(train_tokenizer({sentence}, {100, "char", "nfc"}),
                    "[tokenizer] normalization 'nfc' is not nmt_nfkc, identity or a .tsv file");
}

TEST_CASE("Character and word tokenizers are as large as the text allows") {
  const Tokenizer characters(train_tokenizer({"abc cba"}, {100, "char"}));
  CHECK(characters.vocab_size() == 4 + 4);  // a, b, c and the space mark
  CHECK(characters.decode(characters.encode("ab c")) == "ab c");
  const Tokenizer words(train_tokenizer({"one two two"}, {6, "word"}));
  CHECK(words.encode("two one two").size() == 3);
}

TEST_CASE("Empty texts, and sizes beyond what the text allows, are refused") {
  CHECK_THROWS_WITH(train_tokenizer({}, {}), "[tokenizer] there is no text to learn from");
  const std::string type = GENERATE("bpe", "unigram", "char", "word");
  CHECK_THROWS_WITH(train_tokenizer({"", " \t ", "\u200B", "\u2585"}, {100, type}),
                    "[tokenizer] there is no text to learn from");
  CHECK_THROWS_WITH(train_tokenizer({"fine", "not \xFF"}, {100, type}), "[tokenizer] sentence 2 is not UTF-8");
  CHECK_THROWS_WITH(train_tokenizer({"a"}, {4, type}), "[tokenizer] vocab_size is 4; it must be from 5 to 1048576");
  if (type == "char") return;
  CHECK_THROWS_WITH(
      train_tokenizer(sentences(), {5000, type}),
      Catch::Matchers::Matches("\\[tokenizer\\] vocab_size is 5000, too high for this text; it can be [0-9]+ at most"));
}

TEST_CASE("Texts of any length count, cut at spaces or between characters, and so does what stands beside U+2585") {
  const std::string type = GENERATE("bpe", "unigram", "char", "word");
  std::string long_text, unbroken;
  for (int i = 0; i < 2000; ++i) long_text += "zq vw ";
  for (int i = 0; i < 2000; ++i) unbroken += "\u6771\u4EAC";
  const std::vector<std::string> texts{"short and good", long_text, unbroken, "xk\u2585xk",
                                       "xk\u2585\u2585" + long_text};
  const Tokenizer tokenizer(train_tokenizer(texts, {.vocab_size = 3000, .type = type, .hard_vocab_limit = false}));
  const auto has_piece = [ids = tokenizer.ids()](const std::string& piece) { return ids.contains(piece); };
  const bool has_words = type == "bpe" || type == "word";
  for (const char* word : {"zq", "vw", "xk"}) CHECK((has_piece("\u2581" + std::string(word)) || !has_words));
  CHECK_FALSE(has_piece("\u2585"));
  if (type == "word") CHECK_FALSE((has_piece("\u2581z") || has_piece("q")));  // no word was cut
  if (type == "word") return;
  for (const char* text : {"zq vw xk", "\u6771\u4EAC"}) {
    const auto ids = tokenizer.encode(text);
    CHECK(std::ranges::count(ids, tokenizer.unk_id()) == 0);
    CHECK(tokenizer.decode(ids) == text);
  }
}

TEST_CASE("Without a hard limit a text with too few pieces for the vocabulary gives as many as it has") {
  const std::string type = GENERATE("bpe", "unigram");
  const Tokenizer tokenizer(
      train_tokenizer(sentences(), {.vocab_size = 5000, .type = type, .hard_vocab_limit = false}));
  CHECK(tokenizer.vocab_size() > 50);
  CHECK(tokenizer.vocab_size() < 5000);
  CHECK(tokenizer.decode(tokenizer.encode(sentences()[0])) == sentences()[0]);
}

TEST_CASE("A vocabulary too small for the characters, and an unknown type, are refused") {
  CHECK_THROWS_WITH(train_tokenizer({"abcdefgh"}, {10, "bpe"}),
                    "[tokenizer] vocab_size is 10, but the characters of this text and the control tokens alone are 13 "
                    "pieces; choose a larger one");
  CHECK_THROWS_WITH(train_tokenizer({"a"}, {100, "BPE"}),
                    "[tokenizer] type 'BPE' is not one of bpe, unigram, char and word");
}

TEST_CASE("With byte fallback every character survives, and none becomes an unknown piece") {
  const std::string type = GENERATE("bpe", "unigram");
  const TokenizerOptions options{.vocab_size = 300, .type = type, .character_coverage = 0.999, .byte_fallback = true};
  const Tokenizer tokenizer(train_tokenizer(sentences(), options));
  CHECK(tokenizer.vocab_size() == 300);
  const std::string text = "\u0141ód\u017A \u6771\u4EAC \U0001F600 the river.";
  const auto ids = tokenizer.encode(text);
  CHECK(std::count(ids.begin(), ids.end(), tokenizer.unk_id()) == 0);
  CHECK(tokenizer.decode(ids) == text);
  // Half a character, which a search may pass through, is marked and does no harm.
  const auto byte = std::find_if(ids.begin(), ids.end(), [&](TokenId id) { return tokenizer.piece(id) == "<0xF0>"; });
  REQUIRE(byte != ids.end());
  CHECK(tokenizer.decode({*byte}) == "\uFFFD");
}

TEST_CASE("With split digits no piece has two digits") {
  std::vector<std::string> text = sentences();
  for (int year = 1900; year < 2000; ++year) text.push_back("In " + std::to_string(year) + " the river.");
  const Tokenizer tokenizer(train_tokenizer(text, {.vocab_size = 60, .split_digits = true}));
  const Tokenizer whole(train_tokenizer(text, {.vocab_size = 60}));
  const auto pieces_of = [](const Tokenizer& t) { return t.encode("1999").size(); };
  CHECK(pieces_of(tokenizer) == 5);  // the space mark and each digit
  CHECK(pieces_of(whole) < 5);
}

TEST_CASE("Symbols stay whole wherever they stand") {
  const std::vector<std::string> sentences(20, "the <e1>cat</e1> sat on the mat");
  TokenizerOptions options;
  options.vocab_size = 30;
  options.symbols = "<e1>,</e1>";
  const Tokenizer tokenizer(train_tokenizer(sentences, options));
  const auto ids = tokenizer.ids();
  const auto text = tokenizer.encode("a<e1>cat</e1>");
  CHECK(std::ranges::count(text, ids.at("<e1>")) == 1);
  CHECK(std::ranges::count(text, ids.at("</e1>")) == 1);
  CHECK(tokenizer.decode(text) == "a<e1>cat</e1>");
}

TEST_CASE("Rules from a file become part of the tokenizer") {
  const auto path = std::filesystem::temp_directory_path() / "wasmformer-rules.tsv";
  std::ofstream(path) << "570B\t56FD\n5B78\t5B66\n";  // two traditional characters
  const std::string simplified = "\u56FD\u5B66", traditional = "\u570B\u5B78";
  const Tokenizer tokenizer(train_tokenizer({simplified}, {.type = "char", .normalization = path.string()}));
  std::filesystem::remove(path);
  const auto ids = tokenizer.encode(traditional);
  CHECK(ids == tokenizer.encode(simplified));
  CHECK(std::count(ids.begin(), ids.end(), tokenizer.unk_id()) == 0);
  CHECK_THROWS_AS(train_tokenizer({"a"}, {.type = "char", .normalization = path.string()}), Error);
}

TEST_CASE("A coverage that leaves no characters is refused") {
  CHECK_THROWS_WITH(train_tokenizer(sentences(), {.character_coverage = 0}),
                    "[tokenizer] character_coverage is 0; it must be from 0.98 to 1");
  CHECK_THROWS_WITH(train_tokenizer(sentences(), {.character_coverage = 0.95}), ContainsSubstring("from 0.98 to 1"));
}

TEST_CASE("Symbols that are there twice, or control tokens already, are refused") {
  for (const char* symbols : {"<e1>,<e1>", "<unk>"})
    CHECK_THROWS_WITH(train_tokenizer(sentences(), {.symbols = symbols}), ContainsSubstring("symbols has <"));
}
