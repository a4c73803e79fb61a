#include "text/metrics/labels.h"

#include <catch_amalgamated.hpp>

using namespace wasmformer;
using Catch::Approx;

TEST_CASE("Spans begin and end where conlleval says") {
  // An I- begins a span after O and after another type; a B- always does.
  CHECK(tag_spans({"B-x", "I-x", "O", "I-x", "B-x", "I-y", "I-y"}) ==
        std::vector<TagSpan>{{0, 2, "x"}, {3, 4, "x"}, {4, 5, "x"}, {5, 7, "y"}});
  CHECK(tag_spans({"O", "O"}).empty());
  CHECK(are_spans({"O", "B-x", "I-x"}));
  CHECK_FALSE(are_spans({"NOUN", "VERB"}));
}

TEST_CASE("The scheme of tags is that of the spans' first tags, but for rare mistakes") {
  const Labels iob1{"I-x", "I-x", "B-x", "O", "I-y"}, iob2{"B-x", "I-x", "B-x", "O", "B-y"};
  CHECK(scheme_of({iob1}) == TagScheme::iob1);
  CHECK(scheme_of({iob2}) == TagScheme::iob2);
  CHECK(scheme_of({iob1, iob2}) == TagScheme::any);
  CHECK(scheme_of({{"O"}}) == TagScheme::iob2);
  std::vector<Labels> texts(99, Labels{"B-x"});
  texts.push_back({"O", "I-x"});
  CHECK(scheme_of(texts) == TagScheme::iob2);
  texts.push_back({"O", "I-x"});
  CHECK(scheme_of(texts) == TagScheme::any);
  const Labels right_after{"I-x", "I-y", "B-y"};  // each span follows another without a gap
  CHECK(scheme_of({right_after}) == TagScheme::iob1);
}

TEST_CASE("Span scores count whole spans of the right type") {
  const Scores s =
      span_scores({{"B-x", "I-x", "O", "B-y"}, {"O", "B-x"}}, {{"B-x", "I-x", "O", "B-x"}, {"B-x", "I-x"}});
  // Of 2 x spans 1 is found, among 3 predicted ones; no y is.
  CHECK(s.at("x").precision() == Approx(1 / 3.0));
  CHECK(s.at("x").recall() == Approx(1 / 2.0));
  CHECK(s.at("x").f1() == Approx(0.4));
  CHECK(s.at("y").f1() == 0);
  CHECK(total(s).f1() == Approx(2 * (1 / 3.0) * (1 / 3.0) / (2 / 3.0)));
  CHECK_THROWS_WITH(span_scores({{"O"}}, {{"O", "O"}}), Catch::Matchers::ContainsSubstring("text 1 has 1 tags"));
}

TEST_CASE("Macro F1 matches scikit-learn's") {
  // sklearn.metrics.f1_score(["a", "a", "b", "c"], ["a", "b", "b", "d"], average="macro") is 0.3333...
  const Scores s = label_scores({{"a"}, {"a"}, {"b"}, {"c"}}, {{"a"}, {"b"}, {"b"}, {"d"}});
  CHECK(macro_f1(s) == Approx((2 / 3.0 + 2 / 3.0 + 0 + 0) / 4));
  CHECK(total(s).f1() == Approx(0.5));
}
