#include "model/cache.h"

#include <catch_amalgamated.hpp>

#include "tensor/check.h"

using namespace wasmformer;

namespace {

// Slot i holds i + 1 tokens whose rows are 10 i, 10 i + 1, ...
Cache filled(Index slots) {
  Cache cache(/*decoder_layers=*/2, slots, /*tokens=*/5, /*d_model=*/3);
  for (Index i = 0; i < slots; ++i) {
    cache.lengths[static_cast<std::size_t>(i)] = i + 1;
    for (auto& layer : cache.layers) {
      for (Index j = 0; j <= i; ++j) {
        layer.keys.row(i * 5 + j).setConstant(static_cast<Scalar>(10 * i + j));
        layer.values.row(i * 5 + j).setConstant(static_cast<Scalar>(-10 * i - j));
      }
    }
  }
  return cache;
}

void check_slot(const Cache& cache, Index slot, Index parent) {
  INFO("slot " << slot << " from " << parent);
  CHECK(cache.lengths[static_cast<std::size_t>(slot)] == parent + 1);
  for (const auto& layer : cache.layers) {
    for (Index j = 0; j <= parent; ++j) {
      const Scalar row = static_cast<Scalar>(10 * parent + j);
      CHECK((layer.keys.row(slot * 5 + j).array() == row).all());
      CHECK((layer.values.row(slot * 5 + j).array() == -row).all());
    }
  }
}

}  // namespace

TEST_CASE("Selecting gives every slot the tokens of its parent, again and again") {
  Cache cache = filled(4);
  cache.select({3, 3, 0, 2});
  const std::vector<Index> parents{3, 3, 0, 2};
  REQUIRE(cache.lengths.size() == 4);
  for (Index i = 0; i < 4; ++i) check_slot(cache, i, parents[static_cast<std::size_t>(i)]);
  cache.select({2, 1, 3});  // one sentence has ended
  REQUIRE(cache.lengths.size() == 3);
  check_slot(cache, 0, 0);
  check_slot(cache, 1, 3);
  check_slot(cache, 2, 2);
  cache.select({});
  CHECK(cache.lengths.empty());
}

TEST_CASE("A beam may widen up to the slots that its cache was made with, not beyond") {
  Cache cache = filled(3);
  cache.select({2});
  cache.select({0, 0, 0});
  for (Index i = 0; i < 3; ++i) check_slot(cache, i, 2);
  CHECK_THROWS_WITH(cache.select({0, 0, 0, 0}), Catch::Matchers::ContainsSubstring("4 slots"));
}
