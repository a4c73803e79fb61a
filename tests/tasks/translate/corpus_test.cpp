#include "tasks/translate/corpus.h"

#include <catch_amalgamated.hpp>
#include <map>

#include "schema/error.h"
#include "tests/tasks/translate/letters_model.h"
#include "tests/text/tiny_tokenizer.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

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

TEST_CASE("Pairs with an empty or too long side are skipped and counted") {
  // "abcd" is 6 tokens with "▁" and the end, "abcde" 7.
  const Corpus corpus = tokenized({"abcd", "", "a", "abcde", "a", "   "}, {"a", "a", "", "a", "abcde", "a"});
  CHECK(corpus.pairs.size() == 1);
  CHECK(corpus.pairs[0].source.size() == 6);
  CHECK(corpus.skipped == 5);
}

TEST_CASE("BPE-dropout splits pieces into smaller ones at the given rate and keeps the text") {
  const Tokenizer tokenizer(tiny::model({"a", "b", "ab", "abab"}, "", tiny::bpe_model));
  const auto spelled = [&](const PieceDropout& dropout) {
    const std::vector<std::string> texts(4000, "abab");
    return tokenize_corpus(texts, texts, tokenizer, tokenizer, letters_config(), dropout);
  };
  const Corpus whole = spelled({}), split = spelled({0.25, 5});
  const std::vector<TokenId> shortest = whole.pairs[0].source;
  REQUIRE(shortest == std::vector<TokenId>{4, 8, 3});
  std::map<std::vector<TokenId>, double> spellings;
  for (const SentencePair& pair : split.pairs) {
    CHECK(tokenizer.decode(pair.source) == "abab");
    CHECK(tokenizer.decode(pair.target) == "abab");
    ++spellings[pair.source], ++spellings[pair.target];
  }
  CHECK(spellings.size() == 5);
  CHECK_THAT(spellings[shortest] / 8000, WithinAbs(0.75, 0.02));
  CHECK_THAT((spellings[{4, 7, 7, 3}]) / 8000, WithinAbs(0.25 * 0.75 * 0.75, 0.02));
  CHECK(split.fingerprint() == spelled({0.25, 5}).fingerprint());
  CHECK(split.fingerprint() != spelled({0.25, 6}).fingerprint());
  const Tokenizer letters(tiny::model({"a", "b"}));
  CHECK_THROWS_WITH(tokenize_corpus({"ab"}, {"ba"}, letters, letters, letters_config(), {0.25, 5}),
                    ContainsSubstring("bpe_dropout has no effect"));
}

TEST_CASE("Unusable corpora are refused with a clear message") {
  CHECK_THROWS_WITH(tokenized({"a", "b", "c"}, {"a", "b"}),
                    ContainsSubstring("3 source lines") && ContainsSubstring("2 target lines"));
  CHECK_THROWS_WITH(tokenized({}, {}), ContainsSubstring("no sentence pairs"));
  CHECK_THROWS_WITH(tokenized({"", "abcde"}, {"a", "a"}),
                    ContainsSubstring("all 2 pairs") && ContainsSubstring("6 tokens"));
  CHECK_THROWS_WITH(tokenized({"a", "b\xFF"}, {"a", "b"}), ContainsSubstring("source line 2 is not UTF-8"));
  CHECK_THROWS_WITH(tokenized({"a", "b"}, {"\xC3\x28", "b"}), ContainsSubstring("target line 1 is not UTF-8"));
}
