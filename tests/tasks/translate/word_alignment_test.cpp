#include "tasks/translate/word_alignment.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<TokenId> list_of(const Shortlist& shortlist, std::size_t source) {
  return {shortlist.ids.begin() + shortlist.offsets[source], shortlist.ids.begin() + shortlist.offsets[source + 1]};
}

// das Haus, das Buch, ein Buch: the house, the book, a book (Koehn 2010, section 4.2.3).
Corpus books() {
  Corpus corpus;
  for (const auto& [source, target] : {std::pair<std::vector<TokenId>, std::vector<TokenId>>{{1, 2}, {11, 12}},
                                       {{1, 3}, {11, 13}},
                                       {{4, 3}, {14, 13}}}) {
    corpus.pairs.push_back({source, target});
    corpus.pairs.back().source.push_back(0), corpus.pairs.back().target.push_back(0);
  }
  return corpus;
}

}  // namespace

TEST_CASE("IBM Model 1 finds which words translate each other") {
  const Shortlist one = make_shortlist(books(), 6, 20, {.first = 2, .best = 1, .iterations = 10});
  one.check(6, 20);
  CHECK(one.first == 2);
  CHECK(list_of(one, 0).empty());
  CHECK(list_of(one, 1) == std::vector<TokenId>{11});
  CHECK(list_of(one, 2) == std::vector<TokenId>{12});
  CHECK(list_of(one, 3) == std::vector<TokenId>{13});
  CHECK(list_of(one, 4) == std::vector<TokenId>{14});
  CHECK(list_of(one, 5).empty());
  const Shortlist all = make_shortlist(books(), 6, 20, {.first = 2, .best = 9, .iterations = 2});
  CHECK(list_of(all, 1) == std::vector<TokenId>{11, 12, 13});
}

TEST_CASE("A text lexicon gives the most probable pieces of each source piece") {
  const auto tokenizer = letters_tokenizer();
  const auto id = [&](const char* text) { return tokenizer->encode(text).back(); };
  const std::string text = "a b 0.25\nc b 0.5\nd b 0.125\nNULL b 0.9\na NULL 0.9\n\ne c 1\n";
  const Shortlist list = parse_lexicon(text, "lex", *tokenizer, *tokenizer, {.first = 4, .best = 2});
  list.check(tokenizer->vocab_size(), tokenizer->vocab_size());
  CHECK(list_of(list, static_cast<std::size_t>(id("b"))) == std::vector<TokenId>{id("a"), id("c")});
  CHECK(list_of(list, static_cast<std::size_t>(id("c"))) == std::vector<TokenId>{id("e")});
  CHECK(list_of(list, static_cast<std::size_t>(id("a"))).empty());
}

TEST_CASE("Malformed lexicons, and lexicons of another vocabulary, are refused") {
  const auto tokenizer = letters_tokenizer();
  const auto refused = [&](const char* text, const char* sentence) {
    CHECK_THROWS_WITH(parse_lexicon(text, "lex", *tokenizer, *tokenizer, {}), ContainsSubstring(sentence));
  };
  refused("a b 0.5\na b\n", "line 2 of lex is not 'target source probability'");
  refused("a b much\n", "line 1 of lex");
  refused("a b -1\n", "line 1 of lex");
  refused("a b 0.5 c\n", "line 1 of lex");
  refused("", "lex has no pairs of pieces");
  refused("chien Hund 1\na b 0.5\nchat Katze 1\n", "does not know 4 of the 6 pieces in lex");
}
