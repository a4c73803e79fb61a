#include "text/metrics/copies.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"

using namespace wasmformer;

namespace {

using FoundWords = std::vector<std::u32string>;

}  // namespace

TEST_CASE("Names are capitalized words on both sides that never occur in lower case", "[copies]") {
  const CopyFinder finder({"die hand", "Anna kommt aus Köln."}, {"a hand", "Anna comes from Köln."});
  CHECK(finder.names(U"Anna kommt aus Köln.", U"Anna comes from Köln.") == FoundWords{U"Anna", U"Köln"});
  CHECK(finder.names(U"Toms Hund, Toms Katze", U"Tom's dog, Tom's cat") == FoundWords{U"Tom"});
  CHECK(finder.names(U"Hand in Hand", U"Hand in Hand").empty());
  CHECK(finder.names(U"NATO und Al in Bonn", U"NATO and Al in Bonn") == FoundWords{U"Bonn"});
  CHECK(finder.names(U"Peter", U"Paul").empty());
}

TEST_CASE("Numbers match across both sides whatever their separator", "[copies]") {
  CHECK(copied_numbers(U"Am 24. Dezember 1998 kosteten 3,5 kg 7,99 Euro.",
                       U"On December 24, 1998 3.5 kg cost 7.99 euros.") == FoundWords{U"24", U"1998", U"3.5", U"7.99"});
  CHECK(copied_numbers(U"1.000 Leute um 18:30", U"1,000 people at 18:30") == FoundWords{U"1.000", U"18:30"});
  CHECK(copied_numbers(U"um 7", U"at seven").empty());
  CHECK(copied_numbers(U"7 und 7", U"7 and 7") == FoundWords{U"7"});
}

TEST_CASE("The copy rate counts what source and reference share", "[copies]") {
  const CopyRate rate = copy_rate({"Anna ist 31.", "Toms Hund ist 4,5 Jahre alt."},
                                  {"Anna is 13.", "Tom's dog is 4.5."}, {"Anna is 31.", "Tom's dog is 4.5 years old."});
  CHECK(rate.names == 2);
  CHECK(rate.copied_names == 2);
  CHECK(rate.numbers == 2);
  CHECK(rate.copied_numbers == 1);
  CHECK_THROWS_AS(copy_rate({"a"}, {}, {"a"}), Error);
}
