#include "text/shortlist.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("A shortlist has the first ids, the sources' lists, and padding to a multiple of 8") {
  const Shortlist list{3, {0, 0, 2, 5}, {7, 20, 5, 7, 9}};
  const std::vector<TokenId> sources{2, 1, 2, 40};  // 40: no list
  CHECK(list.candidates(sources, false, 50) == std::vector<TokenId>{0, 1, 2, 3, 5, 7, 9, 20});
  CHECK(list.candidates(sources, true, 50) == std::vector<TokenId>{0, 1, 2, 5, 7, 9, 20, 40});
  CHECK(list.candidates({}, false, 50) == std::vector<TokenId>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(list.candidates({}, false, 6) == std::vector<TokenId>{0, 1, 2, 3, 4, 5});  // there are no more
}

TEST_CASE("Lists that do not fit are refused") {
  CHECK_THROWS_WITH((Shortlist{0, {0, 1, 2}, {1, 2}}.check(1, 5)), ContainsSubstring("2 source pieces, but the"));
  CHECK_THROWS_WITH((Shortlist{0, {0, 2, 1}, {1}}.check(2, 5)), ContainsSubstring("damaged"));
  CHECK_THROWS_WITH((Shortlist{6, {0, 1}, {1}}.check(2, 5)), ContainsSubstring("damaged"));
  CHECK_THROWS_WITH((Shortlist{0, {0, 1}, {5}}.check(2, 5)), ContainsSubstring("target piece 5 is not below"));
}
