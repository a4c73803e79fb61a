#include "text/metrics/lengths.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"

using namespace wasmformer;
using Catch::Matchers::WithinAbs;

TEST_CASE("Words are counted as written, Chinese text by character", "[by length]") {
  CHECK(word_count("Am 24. Dezember, um 18:30 Uhr!") == 6);
  CHECK(word_count("\u4F60\u597D\u3002Tom") == 3);
  CHECK(word_count(" ... ") == 0);
}

TEST_CASE("The length ratio is hypothesis words divided by reference words", "[by length]") {
  CHECK_THAT(length_ratio({"a b c."}, {"a b c d e f g."}), WithinAbs(0.5, 1e-12));
  CHECK_THAT(length_ratio({"\u4F60\u597D"}, {"\u4F60\u597D\u5417\u3002"}, {.tokenizer = BleuTokenizer::zh}),
             WithinAbs(0.5, 1e-12));
}

TEST_CASE("Each length group is scored on its own sentences", "[by length]") {
  const std::string four = "eins zwei drei vier", six = four + " f\u00FCnf sechs",
                    long_one = six + " " + six + " " + six + " " + six + " " + six + " " + six + " " + six;
  const auto scores = scores_by_length({four, six, long_one, ""}, {"one two three four", "one two", "a b c d", ""},
                                       {"one two three four", "one two three four", "a b c d e f g h", ""});
  REQUIRE(scores.size() == 3);
  CHECK((scores[0].from == 1 && scores[0].to == 5 && scores[0].sentences == 2));
  CHECK_THAT(scores[0].bleu, WithinAbs(100, 1e-9));
  CHECK((scores[1].from == 6 && scores[1].to == 10 && scores[1].sentences == 1));
  CHECK_THAT(scores[1].length_ratio, WithinAbs(0.5, 1e-12));
  CHECK((scores[2].from == 41 && scores[2].to == 0 && scores[2].sentences == 1));
  CHECK_THAT(scores[2].bleu, WithinAbs(bleu({"a b c d"}, {"a b c d e f g h"}), 1e-9));
  CHECK_THROWS_AS(scores_by_length({}, {}, {}), Error);
  CHECK_THROWS_AS(scores_by_length({"a"}, {"a", "b"}, {"a"}), Error);
}
