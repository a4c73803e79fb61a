#include "text/tokenizer_trainer.h"

#include <catch_amalgamated.hpp>

#include "tensor/check.h"
#include "text/tokenizer.h"

using namespace wasmformer;

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

TEST_CASE("Full-width punctuation stays as it is where nothing is normalized") {
  const std::string sentence = "\u4F60\u597D\uFF0C\u4F60\u597D\uFF01";
  const Tokenizer identity(train_tokenizer({sentence}, {100, "char", "identity"}));
  CHECK(identity.decode(identity.encode(sentence)) == sentence);
  const Tokenizer nfkc(train_tokenizer({sentence}, {100, "char"}));
  CHECK(nfkc.decode(nfkc.encode(sentence)) == "\u4F60\u597D,\u4F60\u597D!");
  CHECK_THROWS_WITH(train_tokenizer({sentence}, {100, "char", "nfc"}),
                    "[tokenizer] normalization 'nfc' is not one of nmt_nfkc and identity");
}

TEST_CASE("Character and word tokenizers are as large as the text allows") {
  const Tokenizer characters(train_tokenizer({"abc cba"}, {100, "char"}));
  CHECK(characters.vocab_size() == 4 + 4);  // a, b, c and the space mark
  CHECK(characters.decode(characters.encode("ab c")) == "ab c");
  const Tokenizer words(train_tokenizer({"one two two"}, {6, "word"}));
  CHECK(words.encode("two one two").size() == 3);
}

TEST_CASE("A tokenizer is not trained on nothing, or beyond what the text allows") {
  CHECK_THROWS_WITH(train_tokenizer({}, {}), "[tokenizer] there is no text to learn from");
  const std::string type = GENERATE("bpe", "unigram", "char", "word");
  CHECK_THROWS_WITH(train_tokenizer({"", " \t ", "\u200B", std::string(5000, 'a'), "\u2585"}, {100, type}),
                    "[tokenizer] there is no text to learn from");
  CHECK_THROWS_WITH(train_tokenizer({"fine", "not \xFF"}, {100, type}),
                    "[tokenizer] sentence 2 is not UTF-8");
  CHECK_THROWS_WITH(train_tokenizer({"a"}, {4, type}),
                    "[tokenizer] vocab_size is 4; it must be from 5 to 1048576");
  if (type == "char") return;
  CHECK_THROWS_WITH(
      train_tokenizer(sentences(), {5000, type}),
      Catch::Matchers::Matches(
          "\\[tokenizer\\] vocab_size is 5000, too high for this text; it can be [0-9]+ at most"));
}

TEST_CASE("A vocabulary too small for the characters, and an unknown type, are refused") {
  CHECK_THROWS_WITH(train_tokenizer({"abcdefgh"}, {10, "bpe"}),
                    "[tokenizer] Vocabulary size is smaller than required_chars. 10 vs 13.");
  CHECK_THROWS_WITH(train_tokenizer({"a"}, {100, "BPE"}),
                    "[tokenizer] type 'BPE' is not one of bpe, unigram, char and word");
}
