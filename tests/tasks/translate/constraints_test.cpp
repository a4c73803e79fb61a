#include "tasks/translate/constraints.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <functional>

#include "tasks/translate/constraint_tracker.h"
#include "tasks/translate/search.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;
using Ids = std::vector<TokenId>;

namespace {

constexpr TokenId end_id = 3, a = 5, b = 6, c = 7, d = 8;

std::vector<SearchHypothesis> found_by_search(const ModelFile& file, const SearchInput& input,
                                              const TranslateOptions& options) {
  ThreadPool pool;
  Search s(*file.transformer, pool, {input}, options);
  while (s.step()) {
  }
  return s.hypotheses(0);
}

// How often `inner` stands in `outer`, without overlaps.
int count(const Ids& inner, const Ids& outer) {
  int found = 0;
  for (auto at = outer.begin();; ++found) {
    at = std::search(at, outer.end(), inner.begin(), inner.end());
    if (at == outer.end()) return found;
    at += static_cast<std::ptrdiff_t>(inner.size());
  }
}

const TranslateOptions searches[] = {{.beam_size = 1},
                                     {.beam_size = 2, .n_best = 2},
                                     {.beam_size = 5, .n_best = 5},
                                     {.sampling = Sampling{.temperature = 2}}};

// Calls check(hypothesis) for what searches of all kinds find for many random models.
void for_all_searches(const std::vector<Constraint>& constraints, Index max_length,
                      const std::function<void(const SearchHypothesis&)>& check) {
  for (const TranslateOptions& options : searches)
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
      for (const bool has_shortlist : {false, true}) {
        SearchInput input{.source = {5, 6, 7, 3}, .max_length = max_length, .number = seed, .constraints = constraints};
        if (has_shortlist) input.candidates = {4, 9, 10};
        for (const SearchHypothesis& found : found_by_search(letters_model(seed, /*end_bias=*/1), input, options)) {
          INFO("beam " << options.beam_size << ", seed " << seed);
          check(found);
        }
      }
}

}  // namespace

TEST_CASE("A required sequence stands as often as it must, and no more often than it may") {
  for_all_searches({{.spellings = {{a, b, a}}, .least = 2, .most = 2}}, 30, [](const SearchHypothesis& found) {
    CHECK(count({a, b, a}, found.ids) == 2);
  });
}

TEST_CASE("Several constraints hold at once, forbidden tokens among them, wherever their places are") {
  const std::vector<Constraint> constraints{{.spellings = {{a}}, .least = 1, .most = 1, .places = {{0, 1}}},
                                            {.spellings = {{b}}, .least = 1, .most = 1, .places = {{2, 1}}},
                                            {.spellings = {{c, d}}, .least = 1, .most = 1, .places = {{1, 1}}},
                                            {.spellings = {{9}}, .most = 0}};
  for_all_searches(constraints, 30, [](const SearchHypothesis& found) {
    CHECK(count({a}, found.ids) == 1);
    CHECK(count({b}, found.ids) == 1);
    CHECK(count({c, d}, found.ids) == 1);
    CHECK(count({9}, found.ids) == 0);
  });
}

TEST_CASE("Where max_length leaves no room for anything else, what is required comes first") {
  for_all_searches({{.spellings = {{a, b, c, d}}, .least = 1}}, 5, [](const SearchHypothesis& found) {
    CHECK(count({a, b, c, d}, found.ids) == 1);
    CHECK(found.ids.size() <= 5);
  });
}

TEST_CASE("A constraint that sampling meets by itself changes nothing") {
  const TranslateOptions options{.sampling = Sampling{.temperature = 2}};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ModelFile file = letters_model(seed, /*end_bias=*/1);
    SearchInput input{.source = {5, 6, 7, 3}, .max_length = 20, .number = seed};
    const std::vector<SearchHypothesis> without = found_by_search(file, input, options);
    input.constraints = {{.spellings = {{without[0].ids[0]}}, .least = 1}};
    const std::vector<SearchHypothesis> with = found_by_search(file, input, options);
    CHECK(with[0].ids == without[0].ids);
    CHECK(with[0].score == without[0].score);
  }
}

TEST_CASE("What a prefix has met need not stand again") {
  const ModelFile file = letters_model(2, /*end_bias=*/1);
  SearchInput input{.source = {5, 6, 7, 3}, .prefix = {a, b}, .max_length = 20};
  input.constraints = {{.spellings = {{a, b}}, .least = 1, .most = 1}};
  CHECK(count({a, b}, found_by_search(file, input, {}).front().ids) == 1);
}

TEST_CASE("A tracker follows what begins, breaks off and begins again") {
  const ConstraintTracker tracker({{.spellings = {{a, a, b}}, .least = 1}}, nullptr);
  ConstraintTracker::State state = tracker.start();
  CHECK(tracker.needed(state) == 3);
  for (const TokenId id : {a, a, a}) tracker.advance(state, id);
  CHECK(tracker.needed(state) == 1);
  ConstraintTracker::State broken_off = state;
  tracker.advance(broken_off, c);
  CHECK(tracker.needed(broken_off) == 3);
  CHECK(tracker.forbidden(state, end_id) == Ids{end_id});
  tracker.advance(state, b);
  CHECK(tracker.needed(state) == 0);
  CHECK(tracker.forbidden(state, end_id).empty());
}
