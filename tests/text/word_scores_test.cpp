#include "text/word_scores.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "schema/error.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

std::size_t shared(std::string_view a, std::string_view b) {
  const std::vector<std::uint32_t> of_a = word_features(a), of_b = word_features(b);
  std::vector<std::uint32_t> both;
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(both));
  return both.size();
}

}  // namespace

TEST_CASE("A text has features for its words and pairs, in any case and whatever stands between them") {
  CHECK(word_features("").empty());
  CHECK(word_features("play").size() == 2);  // the word, and that it is the first
  CHECK(word_features("play some jazz").size() == 6);
  CHECK(word_features("play play play").size() == 3);
  CHECK(word_features("Play  some\tJAZZ ") == word_features("play some jazz"));
  CHECK(word_features("Ödön") == word_features("ödön"));
  CHECK(shared("play some jazz", "some jazz now") == 3);  // two words and their pair
  CHECK(shared("jazz some", "some jazz") == 2);           // the words, not their order
  CHECK_THROWS_WITH(word_features("\xff"), ContainsSubstring("UTF-8"));
}

TEST_CASE("Chinese characters, signs and marks are words") {
  CHECK(word_features("很好吃").size() == 6);
  CHECK(shared("很好吃", "好吃") == 3);
  CHECK(word_features("good!") == word_features("good !"));
  CHECK(word_features("the <e1>cat</e1>") == word_features("the <e1> cat </e1>"));
  CHECK(word_features("<e1> a").size() == 4);
  CHECK(word_features("< a >").size() == 6);
  CHECK(word_features("do-it-yourself isn't").size() == 4);
}

TEST_CASE("Scores are sums of the weights of known features over the square root of their number") {
  const std::vector<std::uint32_t> features = word_features("good");
  const WordScores words{features, {2, 2, {10, 20, -30, 40}, {0.5f, 0.1f}}};
  words.check(2);
  const Matrix known = words.scores(word_features("good")), unknown = words.scores(word_features("bad idea"));
  CHECK(known(0, 0) == Catch::Approx(15 / std::sqrt(2.0)));
  CHECK(known(0, 1) == Catch::Approx(1 / std::sqrt(2.0)));
  CHECK(unknown.isZero());
  // Only the word itself is known where it is not the first.
  const std::vector<std::uint32_t> later = word_features("so good");
  const bool is_first = std::ranges::count(later, features[0]) > 0;
  CHECK(words.scores(later)(0, 0) == Catch::Approx(is_first ? 5 : 10));
}

TEST_CASE("Weights that do not fit the features or the classes are refused") {
  CHECK_THROWS_WITH((WordScores{{1, 2}, {2, 2, {1, 2, 3, 4}, {1, 1}}}.check(3)), ContainsSubstring("3 classes"));
  CHECK_THROWS_WITH((WordScores{{1}, {2, 2, {1, 2, 3, 4}, {1, 1}}}.check(2)), ContainsSubstring("1 features"));
  CHECK_THROWS_WITH((WordScores{{2, 2}, {2, 2, {1, 2, 3, 4}, {1, 1}}}.check(2)), ContainsSubstring("do not ascend"));
}

TEST_CASE("A word in its context is known by its spelling, its shape and its neighbours") {
  const auto features = [](std::vector<std::string_view> words) { return context_features(words); };
  const auto shared = [](const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    std::vector<std::uint32_t> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both.size();
  };
  const auto rome = features({"in", "Rome", "now"});
  REQUIRE(rome.size() == 3);
  CHECK(rome[1].size() == 17 + 6);  // with three beginnings and three ends of four letters
  CHECK(features({"in", "Rome", "now"}) == rome);
  CHECK(shared(rome[1], features({"in", "rome", "now"})[1]) > shared(rome[1], features({"in", "Oslo", "now"})[1]));
  CHECK(shared(rome[1], features({"in", "Oslo", "now"})[1]) > shared(rome[1], features({"in", "oslo", "now"})[1]));
  CHECK(shared(rome[1], features({"in", "Oslo", "now"})[1]) > shared(rome[1], features({"the", "Oslo", "cup"})[1]));
  CHECK(features({"好"})[0].size() == 17);
  CHECK(features({}).empty());
}
