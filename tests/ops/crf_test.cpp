#include "ops/crf.h"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "schema/error.h"
#include "tests/ops/random_matrix.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

// exp(score) of each sequence of `words` tags, counted like the digits of a number, the last word first.
std::vector<double> sequences(const Matrix& scores, const Matrix& transitions) {
  const Index tags = scores.cols();
  std::vector<double> all;
  for (Index number = 0; number < static_cast<Index>(std::pow(tags, scores.rows())); ++number) {
    double sum = 0;
    for (Index i = scores.rows() - 1, rest = number, after = -1; i >= 0; --i, rest /= tags) {
      sum += static_cast<double>(scores(i, rest % tags));
      if (after >= 0) sum += static_cast<double>(transitions(rest % tags, after));
      after = rest % tags;
    }
    all.push_back(std::exp(sum));
  }
  return all;
}

}  // namespace

TEST_CASE("A conditional random field matches the sum over all tag sequences") {
  const Index tags = 3, words = GENERATE(1, 2, 4);
  const Matrix scores = random_matrix(words, tags, 1) * 3, transitions = random_matrix(tags, tags, 2) * 3;
  const std::vector<double> all = sequences(scores, transitions);
  double sum = 0;
  for (double value : all) sum += value;
  const Matrix probabilities = crf_probabilities({scores.data(), words, tags}, {transitions.data(), tags, tags});
  for (Index i = words - 1, place = 1; i >= 0; --i, place *= tags)
    for (Index tag = 0; tag < tags; ++tag) {
      double of_tag = 0;
      for (std::size_t s = 0; s < all.size(); ++s) of_tag += static_cast<Index>(s) / place % tags == tag ? all[s] : 0;
      CHECK(std::abs(static_cast<double>(probabilities(i, tag)) - of_tag / sum) < 1e-5);
    }

  // Two sentences, the second one of all words; the loss is per word.
  Matrix both(1 + words, tags);
  both << random_matrix(1, tags, 3), scores;
  std::vector<TokenId> targets{2};
  Index number = 0;
  for (Index i = 0; i < words; ++i)
    targets.push_back(static_cast<TokenId>(i % tags)), number = number * tags + i % tags;
  const double first =
      -std::log(static_cast<double>(crf_probabilities({both.data(), 1, tags}, {transitions.data(), tags, tags})(0, 2)));
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Parameter parameter(transitions);
  const CrossEntropy loss = crf_loss(tape, tape.constant(both), parameter, targets, Spans{{0, 1}, {1, words}}, 0);
  const double expected = (first - std::log(all[number] / sum)) / static_cast<double>(1 + words);
  CHECK(std::abs(loss.nll - expected) < 1e-5);
  CHECK(std::abs(static_cast<double>(loss.loss.value()(0, 0)) - expected) < 1e-5);
  CHECK_THROWS_WITH(crf_loss(tape, tape.constant(both), parameter, {}, {}, 0), ContainsSubstring("0 targets"));
  targets.back() = 3;
  CHECK_THROWS_WITH(crf_loss(tape, tape.constant(both), parameter, targets, Spans{{0, 1}, {1, words}}, 0),
                    ContainsSubstring("target 3 is not below 3"));
}

TEST_CASE("Large scores and long sentences do not overflow in a conditional random field") {
  Matrix scores = random_matrix(3000, 4, 1) * 500, transitions = random_matrix(4, 4, 2) * 20;
  const Matrix p = crf_probabilities({scores.data(), 3000, 4}, {transitions.data(), 4, 4});
  CHECK(p.allFinite());
  CHECK(((p.rowwise().sum().array() - 1).abs() < 1e-3).all());
}
