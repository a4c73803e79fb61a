#include "tasks/translate/glossary.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tasks/translate/source.h"
#include "tasks/translate/translator.h"
#include "tests/support.h"
#include "tests/tasks/translate/letters_model.h"
#include "text/unicode/letters.h"
#include "text/unicode/utf8.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

// What a glossary finds in a text, as "source>target" with the words that match, in order.
std::vector<std::string> found(const std::vector<GlossaryTerm>& terms, const std::string& text) {
  const std::u32string characters = decode_utf8(text);
  std::vector<std::string> result;
  for (const TermMatch& match : Glossary(terms).find(characters))
    result.push_back(encode_utf8(characters.substr(match.begin, match.end - match.begin)) + ">" +
                     terms[match.term].target);
  return result;
}

using Terms = std::vector<std::string>;

}  // namespace

TEST_CASE("Terms match whole words, the longest first and none within another") {
  const std::vector<GlossaryTerm> terms{{"Haus", "home"}, {"Haus am See", "lake house"}, {"See", "lake"}};
  const Terms expected{"Haus am  See>lake house", "Haus>home", "See>lake"};
  CHECK(found(terms, "Das Haus am  See, ein Haus (See).") == expected);
  CHECK(found(terms, "Hausboot, Seehaus, Häuser, haus").empty());
  const std::vector<GlossaryTerm> chinese{{"电脑", "computer"}};
  CHECK(found(chinese, "我的电脑很好") == Terms{"电脑>computer"});
}

TEST_CASE("A star stands for any ending, and a whole word goes before it") {
  const std::vector<GlossaryTerm> terms{{"Katze*", "cat"}, {"Katzen", "cats"}, {"groß*", "big"}};
  const Terms expected{"Katze>cat", "Katzen>cats", "Katzentür>cat", "großes>big"};
  CHECK(found(terms, "Katze Katzen Katzentür großes Hausgroß") == expected);
}

TEST_CASE("A small letter of a term matches its capital, but not the reverse") {
  const std::vector<GlossaryTerm> terms{{"laufen", "run"}, {"Essen", "food"}, {"über", "over"}};
  const Terms expected{"Laufen>run", "LAUFEN>run", "Über>over", "Essen>food"};
  CHECK(found(terms, "Laufen LAUFEN Über essen Essen") == expected);
}

TEST_CASE("A glossary that cannot be followed is refused") {
  const Config config = letters_config();
  const auto refused = [&](const std::vector<GlossaryTerm>& terms) {
    checked({.glossary = terms}, config, Naming::camel);
  };
  const std::vector<std::pair<std::vector<GlossaryTerm>, std::string>> cases{
      {{{"a", "b"}, {" ", "c"}}, "glossary[1] has no words in its source"},
      {{{"*", "c"}}, "glossary[0] has no words in its source"},
      {{{"a", ""}}, "glossary[0] has no words in its target"},
      {{{"a", "b"}, {"a ", "c"}}, "glossary[1] has the source 'a ' of an earlier term"},
      {{{"a", "\xFF"}}, "glossary[0] is not UTF-8"}};
  for (const auto& [terms, message] : cases) CHECK_THROWS_WITH(refused(terms), ContainsSubstring(message));
}

TEST_CASE("A target term of which the tokenizer leaves nothing is refused where its source occurs") {
  const ModelFile model = parse_model(read_file(own_fixtures_path() + "/tiny-de-en.safetensors"));
  ThreadPool pool(1);
  for (const char* invisible : {"\u200b", "\ufeff"}) {
    TranslateOptions options;
    options.glossary = {{"Hund", invisible}, {"Buch", "book"}};
    CHECK_THROWS_WITH(translate_in_batches(model, pool, {"Mein Hund, mein Buch."}, options),
                      ContainsSubstring("glossary[0] has no words in its target"));
    CHECK_NOTHROW(translate_in_batches(model, pool, {"Mein Buch."}, options));
  }
}

TEST_CASE("Constraints have the places of their terms in the source, and count terms that stand within others") {
  const ModelFile model = letters_model(1);
  const Glossary glossary({{"ab", "c"}, {"d*", "cc"}});
  const std::string text = "ab h da ab";
  std::vector<TokenId> tokens = model.source_tokenizer->encode(text);
  tokens.push_back(3);
  std::u32string targets;
  const std::vector<Constraint> constraints = glossary.constraints(model, text, tokens, targets);
  REQUIRE(constraints.size() == 2);
  CHECK(targets == U"ccc");
  CHECK(constraints[0].least == constraints[0].most);
  CHECK(constraints[1].least == 1);
  // ▁ a b ▁ h ▁ d a ▁ a b
  REQUIRE(constraints[0].places.size() == 2);
  CHECK(constraints[0].places[0].begin == 1);
  CHECK(constraints[0].places[0].size == 2);
  CHECK(constraints[0].places[1].begin == 9);
  CHECK(constraints[1].places[0].begin == 6);
  CHECK(constraints[1].places[0].size == 2);
}

TEST_CASE("Each target term stands as often as its source, whatever the search") {
  const TranslateOptions searches[] = {{.beam_size = 1}, {.beam_size = 4}, {.sampling = Sampling{.temperature = 2}}};
  ThreadPool pool;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const ModelFile model = letters_model(seed, /*end_bias=*/1);
    for (TranslateOptions options : searches) {
      options.glossary = {{"ab", "gg"}, {"d*", "he"}};
      const std::vector<Translation> translations =
          translate_in_batches(model, pool, {"ab h da ab", "c", "AB"}, options);
      const auto stands = [&](std::size_t text, const std::string& term) {
        const std::u32string words = decode_utf8(" " + translations[text].text + " ");
        std::size_t count = 0;
        for (const TermMatch& match : Glossary({{term, "x"}}).find(words)) count += match.end > match.begin;
        return count;
      };
      CHECK(stands(0, "gg") == 2);
      CHECK(stands(0, "he") == 1);
      CHECK(stands(2, "gg") == 1);
    }
  }
}

TEST_CASE("A text without terms translates as it does without a glossary") {
  const ModelFile model = letters_model(3, /*end_bias=*/1);
  ThreadPool pool;
  const std::vector<std::string> texts{"ab h da", "c"};
  const std::vector<Translation> without = translate_in_batches(model, pool, texts, {});
  std::vector<GlossaryTerm> many;
  for (int i = 0; i < 10000; ++i) many.push_back({"zz" + std::to_string(i), "a"});
  const std::vector<Translation> with = translate_in_batches(model, pool, texts, {.glossary = many});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CHECK(with[i].text == without[i].text);
    CHECK(with[i].score == without[i].score);
  }
}

TEST_CASE("A term after a space that the model has written alone has one space before it") {
  constexpr TokenId space = 4, a = 5, g = 11;
  const ModelFile model = letters_model(1);
  const std::vector<TokenId> ids{space, a, space, space, g, g};
  CHECK(encode_utf8(decoded(model, {.has_terms = true}, ids)) == "a gg");
  CHECK(encode_utf8(decoded(model, {}, ids)) == "a  gg");
}
