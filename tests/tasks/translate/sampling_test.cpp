#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <set>

#include "tasks/translate/search.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;
using Ids = std::vector<TokenId>;

namespace {

const std::vector<TokenId> source{5, 6, 7, 3};

// Of `sentences` copies of one sentence.
std::vector<Ids> sample(const Transformer& model, const Sampling& sampling, std::size_t sentences, Index max_length,
                        int threads = 1) {
  ThreadPool pool(threads);
  std::vector<SearchInput> inputs;
  for (std::size_t i = 0; i < sentences; ++i) inputs.push_back({source, {}, max_length, /*number=*/i});
  Search s(model, pool, inputs, {.sampling = sampling});
  while (s.step()) {
  }
  std::vector<Ids> found;
  for (std::size_t i = 0; i < sentences; ++i) found.push_back(s.hypotheses(static_cast<Index>(i)).front().ids);
  return found;
}

// Log-probabilities of the first token.
std::vector<double> first_token(const Transformer& model) {
  const Config& c = model.config();
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Spans span = spans_of({static_cast<Index>(source.size())});
  Var memory = model.encode(tape, source, span);
  Var logits = model.logits(tape, model.decode(tape, Ids{c.bos_id}, spans_of({1}), memory, span));
  RowVector row = logits.value().row(0);
  std::vector<double> result(static_cast<std::size_t>(row.size()), -INFINITY);
  for (const auto& [id, log_probability] : most_probable(row, row.size(), token_columns(c)))
    result[static_cast<std::size_t>(id)] = static_cast<double>(log_probability);
  return result;
}

std::vector<TokenId> by_probability(const std::vector<double>& row) {
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < row.size(); ++i) ids.push_back(static_cast<TokenId>(i));
  std::sort(ids.begin(), ids.end(),
            [&](TokenId a, TokenId b) { return row[static_cast<std::size_t>(a)] > row[static_cast<std::size_t>(b)]; });
  return ids;
}

}  // namespace

TEST_CASE("A seed samples the same text with any number of threads; another seed samples another") {
  const ModelFile file = letters_model(1);
  const auto first = sample(*file.transformer, {.seed = 1}, 8, 20);
  CHECK(sample(*file.transformer, {.seed = 1}, 8, 20) == first);
  CHECK(sample(*file.transformer, {.seed = 1}, 8, 20, /*threads=*/3) == first);
  CHECK(sample(*file.transformer, {.seed = 2}, 8, 20) != first);
  // Every sentence draws for itself, whatever is beside it.
  CHECK(sample(*file.transformer, {.seed = 1}, 3, 20) == std::vector<Ids>(first.begin(), first.begin() + 3));
  CHECK(std::set<Ids>(first.begin(), first.end()).size() > 1);
}

TEST_CASE("Tokens are drawn in proportion to their probabilities, more sharply at a low temperature") {
  const ModelFile file = letters_model(2);
  const double temperature = GENERATE(0.5, 1.0, 2.0);
  CAPTURE(temperature);
  auto row = first_token(*file.transformer);
  double sum = 0;
  for (double x : row) sum += std::exp(x / temperature);
  constexpr std::size_t draws = 4000;
  std::vector<double> counts(row.size(), 0);
  for (const Ids& ids : sample(*file.transformer, {.temperature = temperature, .seed = 3}, draws, 1))
    ++counts[static_cast<std::size_t>(ids.at(0))];
  for (std::size_t id = 0; id < row.size(); ++id) {
    const double p = std::exp(row[id] / temperature) / sum;
    INFO("token " << id << " of probability " << p);
    // Five standard deviations of a share.
    CHECK(std::abs(counts[id] / draws - p) <= 5 * std::sqrt(p * (1 - p) / draws));
  }
}

TEST_CASE("top_k and top_p keep only the most probable tokens") {
  const ModelFile file = letters_model(3);
  const auto row = first_token(*file.transformer);
  const auto order = by_probability(row);
  const auto drawn = [&](const Sampling& sampling) {
    std::set<TokenId> ids;
    for (const Ids& found : sample(*file.transformer, sampling, 2000, 1)) ids.insert(found.at(0));
    return ids;
  };
  const auto best = [&](std::ptrdiff_t n) { return std::set<TokenId>(order.begin(), order.begin() + n); };
  CHECK(drawn({.top_k = 1, .seed = 1}) == best(1));
  CHECK(drawn({.top_k = 2, .seed = 1}) == best(2));
  CHECK(drawn({.temperature = 1e-3, .seed = 1}) == best(1));
  CHECK(drawn({.top_p = 1e-9, .seed = 1}) == best(1));
  // The fewest tokens whose probabilities reach p.
  const auto probability = [&](std::size_t place) { return std::exp(row[static_cast<std::size_t>(order[place])]); };
  CHECK(drawn({.top_p = probability(0) + probability(1) / 2, .seed = 1}) == best(2));
  CHECK(drawn({.top_p = probability(0) + probability(1) + probability(2) / 2, .seed = 1}) == best(3));
}
