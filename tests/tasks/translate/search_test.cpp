#include "tasks/translate/search.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <set>

#include "schema/error.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;
using Found = std::vector<SearchHypothesis>;
using Ids = std::vector<TokenId>;

namespace {

// A log-probability differs where other sums do: a few of float's 1.2e-7 times the size of scores.
constexpr double limit = 2e-5;

std::vector<Found> search(const Transformer& model, const std::vector<SearchInput>& inputs,
                          const TranslateOptions& options, int threads = 1) {
  ThreadPool pool(threads);
  Search s(model, pool, inputs, options);
  while (s.step()) {
  }
  std::vector<Found> found;
  for (std::size_t i = 0; i < inputs.size(); ++i) found.push_back(s.hypotheses(static_cast<Index>(i)));
  return found;
}

// Log-probabilities of what may follow `ids`, by the whole sequence without a cache, in double.
std::vector<double> next_token(const Transformer& model, const Ids& source, const Ids& ids) {
  const Config& c = model.config();
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Ids input{c.bos_id};
  input.insert(input.end(), ids.begin(), ids.end());
  const Spans source_span = spans_of({static_cast<Index>(source.size())}),
              span = spans_of({static_cast<Index>(input.size())});
  Var memory = model.encode(tape, source, source_span);
  Var logits = model.logits(tape, model.decode(tape, input, span, memory, source_span));
  std::vector<double> row;
  double sum = 0;
  for (Index j = 0; j < logits.cols(); ++j) {
    const bool never = j == c.pad_id || j == c.bos_id;
    row.push_back(never ? -INFINITY : static_cast<double>(logits.value()(logits.rows() - 1, j)));
    sum += std::exp(row.back());
  }
  for (double& x : row) x -= std::log(sum);
  return row;
}

SearchHypothesis greedy(const Transformer& model, const Ids& source, Index max_length) {
  SearchHypothesis h;
  while (static_cast<Index>(h.ids.size()) < max_length) {
    const auto row = next_token(model, source, h.ids);
    const auto best = std::max_element(row.begin(), row.end());
    h.ids.push_back(static_cast<TokenId>(best - row.begin()));
    h.sum += *best;
    if (h.ids.back() == model.config().eos_id) break;
  }
  return h;
}

const std::vector<SearchInput> inputs{
    {{5, 6, 3}, {}, 12}, {{9, 3}, {}, 9}, {{3}, {}, 12}, {{12, 12, 1, 4, 3}, {}, 5}, {{7, 3}, {}, 12}};

}  // namespace

TEST_CASE("A beam of 1 takes the most probable token each time") {
  const ModelFile file = letters_model(GENERATE(1, 2, 3), /*end_bias=*/2);
  const auto found = search(*file.transformer, inputs, {.beam_size = 1});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO("sentence " << i);
    const auto expected = greedy(*file.transformer, inputs[i].source, inputs[i].max_length);
    REQUIRE(found[i].size() == 1);
    CHECK(found[i][0].ids == expected.ids);
    CHECK(std::abs(found[i][0].sum - expected.sum) < limit * 12);
  }
}

TEST_CASE("A batch gives the same results as its sentences alone") {
  const ModelFile file = letters_model(4, /*end_bias=*/2);
  const Index beam_size = GENERATE(1, 2, 4);
  CAPTURE(beam_size);
  const auto together = search(*file.transformer, inputs, {.beam_size = beam_size});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO("sentence " << i);
    const auto alone = search(*file.transformer, {inputs[i]}, {.beam_size = beam_size})[0];
    REQUIRE(alone.size() == together[i].size());
    for (std::size_t n = 0; n < alone.size(); ++n) {
      CHECK(alone[n].ids == together[i][n].ids);
      CHECK(std::abs(alone[n].score - together[i][n].score) < limit);
    }
  }
}

TEST_CASE("A vocabulary of pad and begin alone, of which neither may be chosen, is refused") {
  Config c = small_config();
  c.source_vocab_size = c.target_vocab_size = 2;
  c.pad_id = 0, c.bos_id = c.eos_id = 1;
  Transformer model = random_model(c, 1);
  for (const Index beam : {1, 4})
    CHECK_THROWS_WITH(search(model, {{{1}, {}, 3}}, {.beam_size = beam}),
                      ContainsSubstring("scores that are NaN or infinite"));
}

TEST_CASE("A beam as wide as the search space finds everything, best first") {
  Config c = small_config();
  c.source_vocab_size = c.target_vocab_size = 6;
  Transformer model = random_model(c, GENERATE(1, 2));
  const double length_penalty = GENERATE(0.0, 0.6, 2.0);
  CAPTURE(length_penalty);
  const Ids source{4, 5, 3};
  constexpr std::size_t max_length = 3;

  Found all;  // every sequence of 1, 4 and 5 that ends with 3 or has three tokens
  std::vector<SearchHypothesis> open{{}};
  while (!open.empty()) {
    const SearchHypothesis h = open.back();
    open.pop_back();
    const auto row = next_token(model, source, h.ids);
    for (TokenId id : {1, 3, 4, 5}) {
      SearchHypothesis next = h;
      next.ids.push_back(id);
      next.sum += row[static_cast<std::size_t>(id)];
      next.score = next.sum / std::pow((5.0 + static_cast<double>(next.ids.size())) / 6, length_penalty);
      (id == 3 || next.ids.size() == max_length ? all : open).push_back(next);
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  REQUIRE(all.size() == 1 + 3 + 9 + 27);

  const auto found = search(model, {{source, {}, static_cast<Index>(max_length)}},
                            {.beam_size = 40, .length_penalty = length_penalty})[0];
  REQUIRE(found.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO("place " << i);
    CHECK(std::abs(found[i].score - all[i].score) < limit);
    // Where two scores are nearly equal, either may come first.
    const bool tie = (i > 0 && all[i - 1].score - all[i].score < limit) ||
                     (i + 1 < all.size() && all[i].score - all[i + 1].score < limit);
    if (!tie) CHECK(found[i].ids == all[i].ids);
  }
}

TEST_CASE("The hypotheses of a beam are distinct, sorted, within the length limit, and add up") {
  const ModelFile file = letters_model(GENERATE(5, 6), GENERATE(0.0, 3.0));
  const TranslateOptions options{.beam_size = 4, .length_penalty = GENERATE(0.0, 0.6)};
  const auto all = search(*file.transformer, inputs, options);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Found& found = all[i];
    INFO("sentence " << i);
    REQUIRE(found.size() == 4);
    std::set<Ids> distinct;
    for (std::size_t n = 0; n < found.size(); ++n) {
      const SearchHypothesis& h = found[n];
      INFO("hypothesis " << n);
      CHECK(distinct.insert(h.ids).second);
      CHECK((n == 0 || h.score <= found[n - 1].score));
      REQUIRE(!h.ids.empty());
      CHECK(static_cast<Index>(h.ids.size()) <= inputs[i].max_length);
      const auto end = std::find(h.ids.begin(), h.ids.end(), 3);
      CHECK(
          (end == h.ids.end() - 1 || (end == h.ids.end() && static_cast<Index>(h.ids.size()) == inputs[i].max_length)));
      CHECK(std::count_if(h.ids.begin(), h.ids.end(), [](TokenId id) { return id == 0 || id == 2; }) == 0);
      REQUIRE(h.log_probabilities.size() == h.ids.size());
      double sum = 0;
      for (std::size_t t = 0; t < h.ids.size(); ++t) {
        const auto row = next_token(*file.transformer, inputs[i].source, {h.ids.begin(), h.ids.begin() + t});
        CHECK(std::abs(row[static_cast<std::size_t>(h.ids[t])] - h.log_probabilities[t]) < limit);
        sum += h.log_probabilities[t];
      }
      CHECK(h.sum == Catch::Approx(sum).epsilon(1e-6));
      CHECK(h.score ==
            Catch::Approx(sum / std::pow((5.0 + static_cast<double>(h.ids.size())) / 6, *options.length_penalty))
                .epsilon(1e-6));
    }
  }
}

TEST_CASE("A prefix is kept, scored, and continued as if it had been chosen") {
  const ModelFile file = letters_model(7, /*end_bias=*/1, GENERATE(DecoderSelf::attention, DecoderSelf::ssru));
  const Index beam_size = GENERATE(1, 3);
  const std::vector<SearchInput> forced{{{5, 6, 3}, {8, 9, 10}, 10}, {{9, 3}, {12}, 10}, {{7, 3}, {}, 10}};
  const auto found = search(*file.transformer, forced, {.beam_size = beam_size});
  for (std::size_t i = 0; i < forced.size(); ++i) {
    INFO("sentence " << i);
    for (const SearchHypothesis& h : found[i]) {
      REQUIRE(h.ids.size() > forced[i].prefix.size());
      CHECK(std::equal(forced[i].prefix.begin(), forced[i].prefix.end(), h.ids.begin()));
      for (std::size_t t = 0; t < h.ids.size(); ++t) {
        const auto row = next_token(*file.transformer, forced[i].source, {h.ids.begin(), h.ids.begin() + t});
        CHECK(std::abs(row[static_cast<std::size_t>(h.ids[t])] - h.log_probabilities[t]) < limit);
        if (beam_size == 1 && t >= forced[i].prefix.size())
          CHECK(h.ids[t] == std::max_element(row.begin(), row.end()) - row.begin());
      }
    }
  }
}

TEST_CASE("Forcing what would be found anyway changes nothing") {
  const ModelFile file = letters_model(8, /*end_bias=*/-1);
  const auto free = search(*file.transformer, {{{5, 6, 3}, {}, 10}}, {.beam_size = 1})[0][0];
  REQUIRE(free.ids.size() > 2);
  const auto forced = search(*file.transformer, {{{5, 6, 3}, {free.ids[0], free.ids[1]}, 10}}, {.beam_size = 1})[0][0];
  CHECK(forced.ids == free.ids);
  CHECK(std::abs(forced.sum - free.sum) < limit);
}

TEST_CASE("One, two and three threads give the same bytes") {
  const ModelFile file = letters_model(9, /*end_bias=*/1);
  const auto one = search(*file.transformer, inputs, {.beam_size = 4}, 1);
  for (int threads : {2, 3}) {
    const auto more = search(*file.transformer, inputs, {.beam_size = 4}, threads);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      REQUIRE(more[i].size() == one[i].size());
      for (std::size_t n = 0; n < one[i].size(); ++n) {
        CHECK(more[i][n].ids == one[i][n].ids);
        CHECK(more[i][n].log_probabilities == one[i][n].log_probabilities);
        CHECK(more[i][n].score == one[i][n].score);
      }
    }
  }
}

TEST_CASE("The most probable tokens come best first, without the pad and begin tokens") {
  Config c = small_config();
  RowVector row(6);
  row << 100, 1, 100, 3, 2, 2;
  const auto best = most_probable(row, 3, token_columns(c));
  const double sum = std::exp(1.0) + std::exp(3.0) + 2 * std::exp(2.0);
  REQUIRE(best.size() == 3);
  RowVector copy = row;
  CHECK(most_probable(copy, 0, token_columns(c)).empty());
  CHECK(best[0].id == 3);
  CHECK(best[1].id == 4);  // the smaller id of two equals
  CHECK(best[2].id == 5);
  CHECK(best[0].score == Catch::Approx(3 - std::log(sum)).margin(3e-6));
  CHECK(best[1].score == Catch::Approx(2 - std::log(sum)).epsilon(1e-6));
  // As many as wanted out of many, some of them equal, against a sort of all.
  const Index n = GENERATE(4, 63, 67, 128, 200, 1000), k = GENERATE(1, 2, 8, 1000);
  CAPTURE(n, k);
  Random random(5);
  row.resize(n);
  std::vector<std::pair<double, TokenId>> all;
  double all_sum = 0;
  for (Index id = 0; id < n; ++id) {
    row(id) = static_cast<Scalar>(random.below(n)) / 16;  // exact, and no overflow of exp
    if (id == c.pad_id || id == c.bos_id) continue;
    all.emplace_back(-row(id), static_cast<TokenId>(id));
    all_sum += std::exp(static_cast<double>(row(id)));
  }
  std::sort(all.begin(), all.end());
  const auto found = most_probable(row, k, token_columns(c));
  REQUIRE(static_cast<Index>(found.size()) == std::min(n, k));
  for (std::size_t i = 0; i < std::min(found.size(), all.size()); ++i) {
    CHECK(found[i].id == all[i].second);
    CHECK(static_cast<double>(found[i].score) ==
          Catch::Approx(-all[i].first - std::log(all_sum)).epsilon(1e-6).margin(1e-6));
  }
  row.resize(6);
  row << 0, 1, 0, std::nanf(""), 2, 2;
  CHECK_THROWS_WITH(most_probable(row, 3, token_columns(c)), ContainsSubstring("NaN or infinite"));
}

TEST_CASE("Search refuses invalid input with a message") {
  const ModelFile file = letters_model(1);
  const auto with = [&](const SearchInput& input, const TranslateOptions& options) {
    search(*file.transformer, {{{5, 3}, {}, 5}, input}, options);
  };
  CHECK_THROWS_WITH(with({{5, 3}, {}, 5}, {.beam_size = 0}), ContainsSubstring("beam_size must be"));
  CHECK_THROWS_WITH(with({{}, {}, 5}, {}), ContainsSubstring("a sentence has 0 tokens"));
  CHECK_THROWS_WITH(with({Ids(41, 5), {}, 5}, {}), ContainsSubstring("41 tokens") && ContainsSubstring("40"));
  CHECK_THROWS_WITH(with({{5, 3}, {}, 0}, {}), ContainsSubstring("max_length 0"));
  CHECK_THROWS_WITH(with({{5, 3}, {}, 41}, {}), ContainsSubstring("41") && ContainsSubstring("40"));
  CHECK_THROWS_WITH(with({{5, 3}, {5, 6, 7}, 3}, {}), ContainsSubstring("3 tokens"));
  CHECK_THROWS_WITH(with({{5, 3}, {5, 2}, 5}, {}), ContainsSubstring("prefix") && ContainsSubstring("token 2"));
  CHECK_THROWS_AS(with({{5, 99, 3}, {}, 5}, {}), Error);
  CHECK_THROWS_AS(with({{5, 3}, {99}, 5}, {}), Error);
}

TEST_CASE("A running search has one hypothesis, one token longer with each step") {
  const ModelFile file = letters_model(5, /*end_bias=*/3);
  ThreadPool pool;
  bool ended_early = false;
  for (const SearchInput& input : inputs) {
    Search s(*file.transformer, pool, {input}, {.beam_size = 4});
    std::size_t steps = 0;
    while (s.step()) {
      const Found found = s.hypotheses(0);
      REQUIRE(found.size() == 1);
      CHECK(found[0].ids.size() == ++steps);
      CHECK(found[0].ids.back() != 3);
    }
    const Found found = s.hypotheses(0);
    REQUIRE(found.size() == 4);
    for (const SearchHypothesis& h : found) ended_early |= h.ids.size() < steps;
  }
  CHECK(ended_early);  // hypotheses that ended while others went on
}

TEST_CASE("A beam starts as one hypothesis, and finished sentences are no longer computed") {
  const ModelFile file = letters_model(6, /*end_bias=*/-100);  // none ends before its max_length
  const Index beam_size = GENERATE(1, 4), prefix = GENERATE(0, 2);
  ThreadPool pool;
  const std::vector<Index> limits{5, 3, 9, 3};
  std::vector<SearchInput> some;
  for (Index limit : limits) some.push_back({{5, 6, 3}, Ids(static_cast<std::size_t>(prefix), 7), limit});
  Search s(*file.transformer, pool, some, {.beam_size = beam_size});
  CHECK(s.living() == 4);
  bool more = true;
  for (Index length = prefix + 1; more; ++length) {
    more = s.step();
    CHECK(s.living() ==
          beam_size * std::count_if(limits.begin(), limits.end(), [&](Index limit) { return limit > length; }));
  }
  for (std::size_t i = 0; i < limits.size(); ++i)
    CHECK(static_cast<Index>(s.hypotheses(static_cast<Index>(i)).front().ids.size()) == limits[i]);
}

TEST_CASE("A search over no sentences ends at once") {
  const ModelFile file = letters_model(1);
  ThreadPool pool;
  Search none(*file.transformer, pool, {}, {});
  CHECK(!none.step());
}
