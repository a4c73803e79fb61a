#include "model/cache.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tensor/random.h"

using namespace wasmformer;

namespace {

constexpr Index capacity = 50;

Cache empty(Index slots) { return Cache(/*decoder_layers=*/2, slots, capacity, /*key_width=*/3, /*value_width=*/3); }

// Slot i gets sizes[i] tokens whose rows are all 100 i + `value` and, a token on, one more.
void append(Cache& cache, const std::vector<Index>& sizes, Index value) {
  Spans spans;
  for (Index at = 0; Index size : sizes) spans.push_back({at, size}), at += size;
  cache.append(spans);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (Index j = 0; j < sizes[i]; ++j) {
      const Index place = static_cast<Index>(i) * capacity + cache.lengths[i] - sizes[i] + j;
      const std::int32_t row = cache.slot_rows[static_cast<std::size_t>(place)];
      for (auto& layer : cache.layers) {
        layer.keys.row(row).setConstant(static_cast<Scalar>(100 * static_cast<Index>(i) + value + j));
        layer.values.row(row) = -layer.keys.row(row);
      }
    }
  }
}

// The values of the tokens of every slot.
std::vector<std::vector<Index>> contents(const Cache& cache) {
  std::vector<std::vector<Index>> found;
  for (std::size_t i = 0; i < cache.lengths.size(); ++i) {
    auto& slot = found.emplace_back();
    for (Index j = 0; j < cache.lengths[i]; ++j) {
      const std::int32_t row = cache.slot_rows[i * static_cast<std::size_t>(capacity) + static_cast<std::size_t>(j)];
      slot.push_back(static_cast<Index>(cache.layers[0].keys(row, 0)));
      for (const auto& layer : cache.layers) {
        CHECK((layer.keys.row(row).array() == static_cast<Scalar>(slot.back())).all());
        CHECK((layer.values.row(row).array() == static_cast<Scalar>(-slot.back())).all());
      }
    }
  }
  return found;
}

using Contents = std::vector<std::vector<Index>>;

}  // namespace

TEST_CASE("Selecting gives every slot its parent's tokens, any number of times") {
  Cache cache = empty(4);
  append(cache, {1, 2, 3, 0}, 0);
  CHECK(contents(cache) == Contents{{0}, {100, 101}, {200, 201, 202}, {}});
  cache.select({2, 2, 3, 1});
  CHECK(contents(cache) == Contents{{200, 201, 202}, {200, 201, 202}, {}, {100, 101}});
  append(cache, {1, 1, 1, 1}, 7);
  cache.select({1, 0, 3});  // one sentence has ended
  CHECK(contents(cache) == Contents{{200, 201, 202, 107}, {200, 201, 202, 7}, {100, 101, 307}});
  cache.select({2, 1, 0});
  CHECK(contents(cache) == Contents{{100, 101, 307}, {200, 201, 202, 7}, {200, 201, 202, 107}});
  cache.select({});
  CHECK(cache.lengths.empty());
}

TEST_CASE("A beam may not widen beyond the slots its cache was made with") {
  Cache cache = empty(3);
  append(cache, {1, 2, 3}, 0);
  cache.select({2});
  cache.select({0, 0, 0});
  CHECK(contents(cache) == Contents(3, {200, 201, 202}));
  CHECK_THROWS_WITH(cache.select({0, 0, 0, 0}), Catch::Matchers::ContainsSubstring("4 slots"));
  CHECK_THROWS_WITH(append(cache, {1, 1, 48}, 0),
                    Catch::Matchers::ContainsSubstring("51 tokens") && Catch::Matchers::ContainsSubstring("50"));
}

TEST_CASE("Slots share the rows of their common tokens, and selecting writes no rows") {
  Cache cache = empty(4);
  cache.select({0});
  append(cache, {30}, 0);
  const Index rows = cache.layers[0].keys.rows();
  const Matrix before = cache.layers[0].keys;
  cache.select({0, 0, 0, 0});
  for (std::size_t i = 1; i < 4; ++i)
    for (std::size_t j = 0; j < 30; ++j)
      CHECK(cache.slot_rows[i * static_cast<std::size_t>(capacity) + j] == cache.slot_rows[j]);
  CHECK(cache.layers[0].keys.topRows(30) == before.topRows(30));
  append(cache, {0, 0, 1, 1}, 50);
  CHECK(cache.layers[0].keys.rows() == rows);  // 32 are enough
}

TEST_CASE("A random beam's cache holds the same as copies would, and reuses rows") {
  constexpr Index slots = 6;
  Cache cache = empty(slots);
  Random random(GENERATE(1, 2, 3));
  for (int sentence = 0; sentence < 4; ++sentence) {
    Contents expected(slots);
    cache.select(std::vector<Index>());
    cache.lengths.assign(slots, 0);
    for (Index value = 0; value < capacity; ++value) {
      append(cache, std::vector<Index>(slots, 1), value);
      std::vector<Index> parents;
      Contents next;
      for (Index i = 0; i < slots; ++i) {
        expected[static_cast<std::size_t>(i)].push_back(100 * i + value);
        parents.push_back(random.below(slots));
      }
      for (Index parent : parents) next.push_back(expected[static_cast<std::size_t>(parent)]);
      expected = next;
      cache.select(parents);
      REQUIRE(contents(cache) == expected);
    }
  }
  // The rows of hypotheses that died are used again: six tokens a step would else need 1,200.
  CHECK(cache.layers[0].keys.rows() <= slots * capacity / 2);
}

TEST_CASE("A cache with too many rows is refused before it is allocated") {
  CHECK_THROWS_WITH(Cache(1, 4, 2'000'000'000, 8, 8),
                    "[cache] 4 slots of 2000000000 tokens are more than 2147483647 rows");
}
