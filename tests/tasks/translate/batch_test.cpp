#include "tasks/translate/batch.h"

#include <algorithm>
#include <catch_amalgamated.hpp>

#include "tests/train/small_run.h"

using namespace wasmformer;

namespace {

// All pairs of the batches in order.
std::vector<Index> order(const std::vector<std::vector<Index>>& batches) {
  std::vector<Index> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

std::vector<Index> sorted(std::vector<Index> items) {
  std::sort(items.begin(), items.end());
  return items;
}

}  // namespace

TEST_CASE("A batch packs its pairs one after another, with targets shifted by the begin token") {
  Corpus corpus;
  corpus.pairs = {{{5, 6, 3}, {7, 3}}, {{8, 3}, {9, 10, 11, 3}}, {{3}, {3}}};
  const Batch batch = pack(corpus, std::vector<Index>{1, 0, 2}, 2);
  CHECK(batch.source == std::vector<TokenId>{8, 3, 5, 6, 3, 3});
  CHECK(batch.target_in == std::vector<TokenId>{2, 9, 10, 11, 2, 7, 2});
  CHECK(batch.target_out == std::vector<TokenId>{9, 10, 11, 3, 7, 3, 3});
  CHECK(batch.source_spans == Spans{{0, 2}, {2, 3}, {5, 1}});
  CHECK(batch.target_spans == Spans{{0, 4}, {4, 2}, {6, 1}});
}

TEST_CASE("Batches stay within the budget on both sides and hold every pair once") {
  const Corpus corpus = random_corpus(200, 1);
  const std::vector<Index> all = order(plan_batches(corpus, 50));
  CHECK(std::is_sorted(all.begin(), all.end()));
  for (Index budget : {1, 7, 50, 100000}) {
    for (Index epoch : {0, 1}) {
      const auto batches = plan_shuffled_batches(corpus, budget, 3, epoch);
      CHECK(sorted(order(batches)) == all);
      for (std::size_t b = 0; b < batches.size(); ++b) {
        REQUIRE(!batches[b].empty());
        Index source = 0, target = 0;
        for (Index i : batches[b]) {
          source += static_cast<Index>(corpus.pairs[static_cast<std::size_t>(i)].source.size());
          target += static_cast<Index>(corpus.pairs[static_cast<std::size_t>(i)].target.size());
        }
        CHECK((std::max(source, target) <= budget || batches[b].size() == 1));
        if (b + 1 == batches.size()) continue;
        // The next pair would not have fitted.
        const auto& next = corpus.pairs[static_cast<std::size_t>(batches[b + 1].front())];
        CHECK(std::max(source + static_cast<Index>(next.source.size()),
                       target + static_cast<Index>(next.target.size())) > budget);
      }
    }
  }
}

TEST_CASE("Every seed shuffles, even 0") {
  const Corpus corpus = random_corpus(100, 2);
  for (std::uint64_t seed : {0, 1, 2}) {
    const std::vector<Index> all = order(plan_shuffled_batches(corpus, 50, seed, 0));
    CHECK(!std::is_sorted(all.begin(), all.end()));
  }
}

TEST_CASE("The order of an epoch depends only on seed and epoch") {
  const Corpus corpus = random_corpus(100, 2);
  CHECK(plan_shuffled_batches(corpus, 50, 1, 4) == plan_shuffled_batches(corpus, 50, 1, 4));
  CHECK(order(plan_shuffled_batches(corpus, 50, 1, 0)) != order(plan_shuffled_batches(corpus, 50, 1, 1)));
  CHECK(order(plan_shuffled_batches(corpus, 50, 1, 0)) != order(plan_shuffled_batches(corpus, 50, 2, 0)));
  CHECK(order(plan_shuffled_batches(corpus, 50, 1, 1)) != order(plan_shuffled_batches(corpus, 50, 2, 0)));
}

TEST_CASE("The shares of a batch hold its sentences in order, with similar numbers of tokens") {
  const Corpus corpus = random_corpus(9, 6);
  std::vector<Index> pairs{0, 1, 2, 3, 4, 5, 6, 7, 8};
  const Batch whole = pack(corpus, pairs, 2);
  Batch joined;
  for (int i = 0; i < 3; ++i) {
    const Batch part = share(whole, i, 3);
    CHECK(part.first_source == static_cast<Index>(joined.source.size()));
    CHECK(part.first_target == static_cast<Index>(joined.target_out.size()));
    CHECK(part.source.size() + part.target_out.size() < (whole.source.size() + whole.target_out.size()) / 3 + 14);
    REQUIRE(part.source_spans.size() == part.target_spans.size());
    CHECK(part.source_spans.front().begin == 0);
    CHECK(part.source_spans.back().end() == static_cast<Index>(part.source.size()));
    CHECK(part.target_spans.back().end() == static_cast<Index>(part.target_in.size()));
    joined.source.insert(joined.source.end(), part.source.begin(), part.source.end());
    joined.target_out.insert(joined.target_out.end(), part.target_out.begin(), part.target_out.end());
    joined.target_in.insert(joined.target_in.end(), part.target_in.begin(), part.target_in.end());
  }
  CHECK(joined.source == whole.source);
  CHECK(joined.target_in == whole.target_in);
  CHECK(joined.target_out == whole.target_out);
}
