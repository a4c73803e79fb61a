#include "data/corpus.h"

#include <catch_amalgamated.hpp>

#include "tensor/check.h"
#include "tests/decode/letters_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

Corpus tokenized(const std::vector<std::string>& sources, const std::vector<std::string>& targets) {
  const auto tokenizer = letters_tokenizer();
  Config c = letters_config();
  c.max_length = 6;
  return tokenize_corpus(sources, targets, *tokenizer, *tokenizer, c);
}

}  // namespace

TEST_CASE("Pairs become ids that end with the end token") {
  const Corpus corpus = tokenized({"ab", "h"}, {"c", "ba"});
  REQUIRE(corpus.pairs.size() == 2);
  CHECK(corpus.pairs[0].source == std::vector<TokenId>{4, 5, 6, 3});
  CHECK(corpus.pairs[0].target == std::vector<TokenId>{4, 7, 3});
  CHECK(corpus.pairs[1].source == std::vector<TokenId>{4, 12, 3});
  CHECK(corpus.pairs[1].target == std::vector<TokenId>{4, 6, 5, 3});
  CHECK(corpus.skipped == 0);
}

TEST_CASE("Pairs with an empty or too long side are passed over and counted") {
  // "abcd" is 6 tokens with "▁" and the end, "abcde" 7.
  const Corpus corpus = tokenized({"abcd", "", "a", "abcde", "a", "   "}, {"a", "a", "", "a", "abcde", "a"});
  CHECK(corpus.pairs.size() == 1);
  CHECK(corpus.pairs[0].source.size() == 6);
  CHECK(corpus.skipped == 5);
}

TEST_CASE("A corpus that cannot be trained on is refused by a sentence with both sides") {
  CHECK_THROWS_WITH(tokenized({"a", "b", "c"}, {"a", "b"}),
                    ContainsSubstring("3 source lines") && ContainsSubstring("2 target lines"));
  CHECK_THROWS_WITH(tokenized({}, {}), ContainsSubstring("no sentence pairs"));
  CHECK_THROWS_WITH(tokenized({"", "abcde"}, {"a", "a"}),
                    ContainsSubstring("all 2 pairs") && ContainsSubstring("6 tokens"));
  CHECK_THROWS_WITH(tokenized({"a", "b\xFF"}, {"a", "b"}), ContainsSubstring("source line 2 is not UTF-8"));
  CHECK_THROWS_WITH(tokenized({"a", "b"}, {"\xC3\x28", "b"}), ContainsSubstring("target line 1 is not UTF-8"));
}
