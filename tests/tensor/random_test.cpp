#include "tensor/random.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <numeric>

using namespace wasmformer;

TEST_CASE("mix is splitmix64") {
  // The first outputs for seed 1234567 of https://prng.di.unimi.it/splitmix64.c, as Rosetta Code lists them.
  const std::uint64_t step = 0x9e3779b97f4a7c15u;
  CHECK(mix(1234567) == 6457827717110365317u);
  CHECK(mix(1234567 + step) == 3203168211198807973u);
  CHECK(mix(1234567 + 2 * step) == 9817491932198370423u);
}

TEST_CASE("Equal seeds give equal numbers, different seeds different ones") {
  Random a(1), b(1), c(2);
  std::vector<std::uint64_t> first, second, third;
  for (int i = 0; i < 100; ++i) {
    first.push_back(a.bits());
    second.push_back(b.bits());
    third.push_back(c.bits());
  }
  CHECK(first == second);
  CHECK(first != third);
  std::sort(first.begin(), first.end());
  CHECK(std::adjacent_find(first.begin(), first.end()) == first.end());
}

TEST_CASE("Neighboring seeds share no number") {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    for (int i = 0; i < 100; ++i) numbers.push_back(random.bits());
  }
  std::sort(numbers.begin(), numbers.end());
  CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
}

TEST_CASE("uniform fills [0, 1) evenly") {
  Random random(3);
  constexpr int draws = 100000;
  std::vector<int> bins(10, 0);
  for (int i = 0; i < draws; ++i) {
    const double x = random.uniform();
    REQUIRE((x >= 0 && x < 1));
    ++bins[static_cast<std::size_t>(x * 10)];
  }
  // Five standard deviations of a bin: 5 √(100000 · 0.1 · 0.9) = 474.
  for (int count : bins) CHECK(std::abs(count - draws / 10) < 475);
}

TEST_CASE("below gives every number under its limit") {
  Random random(4);
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 7000; ++i) ++counts.at(static_cast<std::size_t>(random.below(7)));
  // Five standard deviations: 5 √(7000 / 7 · 6 / 7) = 146.
  for (int count : counts) CHECK(std::abs(count - 1000) < 147);
  CHECK(random.below(1) == 0);
}

TEST_CASE("shuffle keeps every item, and every item reaches every position") {
  std::vector<std::vector<int>> seen(5, std::vector<int>(5, 0));
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::vector<int> items(5);
    std::iota(items.begin(), items.end(), 0);
    Random(seed).shuffle(items);
    for (std::size_t place = 0; place < 5; ++place) ++seen[place][static_cast<std::size_t>(items[place])];
    std::sort(items.begin(), items.end());
    REQUIRE(items == std::vector<int>{0, 1, 2, 3, 4});
  }
  // Five standard deviations: 5 √(2000 · 0.2 · 0.8) = 90.
  for (const auto& row : seen)
    for (int count : row) CHECK(std::abs(count - 400) < 90);
  std::vector<int> none, one{7};
  Random(1).shuffle(none);
  Random(1).shuffle(one);
  CHECK(none.empty());
  CHECK(one == std::vector<int>{7});
}
