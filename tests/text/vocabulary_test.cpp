#include "text/vocabulary.h"

#include <catch_amalgamated.hpp>

#include "text/tokenizer.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("A character model has every character and restores each text") {
  const std::string texts[] = {"b ä,b", "1987-03-03 中文 b", " two  spaces "};
  const Tokenizer t(character_model({texts, texts + 3}));
  CHECK(t.pad_id() == 0);
  CHECK(t.unk_id() == 1);
  CHECK(t.bos_id() == 2);
  CHECK(t.eos_id() == 3);
  CHECK(t.piece(4) == "\xE2\x96\x81");  // the most frequent
  CHECK(t.encode("b b") == std::vector<TokenId>{5, 4, 5});
  CHECK(t.decode(t.encode(texts[0])) == texts[0]);
  CHECK(t.decode(t.encode(texts[1])) == texts[1]);
  CHECK(t.encode("x") == std::vector<TokenId>{t.unk_id()});
}

TEST_CASE("A word model has the most frequent words, and the rest are unknown") {
  const std::vector<std::string> texts = {"to be or not to be", "to do <unk>", "中文 to"};
  const Tokenizer all(word_model(texts, 100));
  CHECK(all.vocab_size() == 4 + 7);  // to be or not do <unk> 中文
  CHECK(all.piece(4) == "\xE2\x96\x81to");
  CHECK(all.encode("to be") == std::vector<TokenId>{4, 5});
  CHECK(all.decode(all.encode("not to do 中文")) == "not to do 中文");
  const Tokenizer some(word_model(texts, 6));
  CHECK(some.vocab_size() == 6);
  CHECK(some.encode("to do be") == std::vector<TokenId>{4, some.unk_id(), 5});
}

TEST_CASE("Texts without pieces, and texts that are not UTF-8, are refused") {
  CHECK_THROWS_WITH(character_model({}), ContainsSubstring("no text"));
  CHECK_THROWS_WITH(character_model({"", ""}), ContainsSubstring("no text"));
  CHECK_THROWS_WITH(word_model({"  "}, 10), ContainsSubstring("no text"));
  CHECK_THROWS_WITH(word_model({"a"}, 4), ContainsSubstring("vocab_size is 4"));
  CHECK_THROWS_WITH(character_model({"\xFF"}), ContainsSubstring("UTF-8"));
}
