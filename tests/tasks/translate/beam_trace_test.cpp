// The tree of a beam search against the search itself, and against the model one whole sequence at a time.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <map>
#include <set>

#include "schema/error.h"
#include "tasks/translate/translator.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;
using Ids = std::vector<TokenId>;
using Trace = std::vector<TracedToken>;

namespace {

constexpr double tolerance = 2e-5;

struct Traced {
  Trace trace;
  std::vector<SearchHypothesis> hypotheses;
};

// Of two sentences together; what is returned is the second's.
Traced search(const ModelFile& model, const SearchInput& input, TranslateOptions options) {
  ThreadPool pool;
  Search s(*model.transformer, pool, {{{9, 3}, {}, 9}, input}, options);
  while (s.step()) {
  }
  return {s.trace(1), s.hypotheses(1)};
}

Ids path(const Trace& trace, std::size_t node) {
  Ids ids;
  for (auto n = static_cast<std::int32_t>(node); trace[n].parent >= 0; n = trace[n].parent) ids.push_back(trace[n].id);
  std::reverse(ids.begin(), ids.end());
  return ids;
}

std::vector<std::size_t> children(const Trace& trace, std::size_t node) {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < trace.size(); ++n)
    if (trace[n].parent == static_cast<std::int32_t>(node)) all.push_back(n);
  return all;
}

std::map<Index, std::vector<std::size_t>> by_length(const Trace& trace) {
  std::map<Index, std::vector<std::size_t>> all;
  for (std::size_t n = 0; n < trace.size(); ++n) all[trace[n].length].push_back(n);
  return all;
}

const SearchInput input{{5, 6, 7, 3}, {}, 12};

}  // namespace

TEST_CASE("The scores in a beam's tree add up, and its best finished leaf is the translation") {
  const ModelFile model = letters_model(GENERATE(1, 2, 3), GENERATE(0.0, 2.5));
  const Index beam_size = GENERATE(1, 2, 5);
  const double length_penalty = GENERATE(0.0, 1.2);
  CAPTURE(beam_size, length_penalty);
  const auto [trace, hypotheses] =
      search(model, input, {.beam_size = beam_size, .length_penalty = length_penalty, .beam_trace = true});
  REQUIRE(trace.size() > 1);
  CHECK(trace[0].parent == -1);
  CHECK(trace[0].id == letters_config().bos_id);
  CHECK((trace[0].sum == 0 && trace[0].length == 0 && trace[0].outcome == BeamOutcome::kept));
  std::size_t best = 0;
  std::set<Index> places;
  for (std::size_t n = 1; n < trace.size(); ++n) {
    const TracedToken& t = trace[n];
    REQUIRE((t.parent >= 0 && t.parent < static_cast<std::int32_t>(n)));
    const TracedToken& parent = trace[t.parent];
    CHECK(parent.outcome == BeamOutcome::kept);
    CHECK(t.length == parent.length + 1);
    CHECK(t.log_probability < 0);
    CHECK(t.sum == Catch::Approx(parent.sum + static_cast<double>(t.log_probability)));
    CHECK(t.score == Catch::Approx(t.sum / std::pow((5 + static_cast<double>(t.length)) / 6, length_penalty)));
    CHECK((t.outcome == BeamOutcome::ended) == (t.hypothesis >= 0));
    if (t.outcome == BeamOutcome::kept) CHECK(!children(trace, n).empty());
    if (t.outcome != BeamOutcome::ended) continue;
    CHECK((t.id == 3 || t.length == input.max_length));
    if (best == 0 || t.score > trace[best].score) best = n;
    places.insert(t.hypothesis);
    const SearchHypothesis& h = hypotheses.at(static_cast<std::size_t>(t.hypothesis));
    CHECK(path(trace, n) == h.ids);
    CHECK(t.score == h.score);
    CHECK(t.sum == h.sum);
  }
  CHECK(trace[best].hypothesis == 0);
  CHECK(places.size() == hypotheses.size());
}

TEST_CASE("Each step keeps a full beam and gives the right reason for each node it drops") {
  const ModelFile model = letters_model(GENERATE(4, 5), GENERATE(0.0, 2.5));
  const Index beam_size = GENERATE(1, 2, 5);
  const double length_penalty = GENERATE(0.0, 1.2);
  CAPTURE(beam_size, length_penalty);
  const TranslateOptions options{.beam_size = beam_size, .length_penalty = length_penalty, .beam_trace = true};
  const auto [trace, hypotheses] = search(model, input, options);
  const Index last = trace.back().length;
  for (const auto& [length, nodes] : by_length(trace)) {
    if (length == 0) continue;
    INFO("tokens of length " << length);
    Index beam = 0, ended = 0;
    double worst_kept = 0;
    for (std::size_t n : nodes) {
      const TracedToken& t = trace[n];
      if (t.outcome == BeamOutcome::crowded_out) continue;
      ++(t.id == 3 ? ended : beam);
      if (t.id != 3) worst_kept = std::min(worst_kept, t.sum);
    }
    CHECK(beam == beam_size);
    CHECK(ended <= beam_size);
    for (std::size_t n : nodes) {
      const TracedToken& t = trace[n];
      if (t.outcome == BeamOutcome::kept) continue;
      CHECK(children(trace, n).empty());
      // An end token counts among the best of the beam only, which others may have taken.
      if (t.outcome == BeamOutcome::crowded_out) {
        const auto better =
            std::count_if(nodes.begin(), nodes.end(), [&](std::size_t other) { return trace[other].sum >= t.sum; });
        CHECK((t.id == 3 ? better > beam_size : t.sum <= worst_kept));
      }
      if (t.outcome == BeamOutcome::outscored) {
        CHECK((t.id == 3 || t.length == input.max_length));
        CHECK(static_cast<Index>(hypotheses.size()) == beam_size);
        CHECK(t.score <= hypotheses.back().score);
      }
      if (t.outcome == BeamOutcome::too_late) {
        CHECK(t.length == last);
        CHECK(t.score <= hypotheses.front().score);
      }
    }
  }
}

TEST_CASE("Every reason to drop a node occurs") {
  std::set<BeamOutcome> outcomes;
  for (std::uint64_t seed : {4, 5, 6, 7})
    for (double end_bias : {0.0, 2.5})
      for (const TracedToken& t :
           search(letters_model(seed, end_bias), input, {.beam_size = 3, .beam_trace = true}).trace)
        outcomes.insert(t.outcome);
  CHECK(outcomes.size() == 5);
}

TEST_CASE("A step's candidates are the best continuations of its beam") {
  const ModelFile model = letters_model(6);
  const Transformer& transformer = *model.transformer;
  const Config& c = transformer.config();
  constexpr std::size_t beam_size = 3;
  const Trace trace = search(model, input, {.beam_size = beam_size, .beam_trace = true}).trace;
  const auto lengths = by_length(trace);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  for (Index length = 1; length <= trace.back().length; ++length) {
    INFO("tokens of length " << length);
    std::vector<double> expected, found;
    std::set<std::int32_t> extended;
    for (std::size_t n : lengths.at(length - 1)) {
      if (trace[n].outcome != BeamOutcome::kept) continue;
      extended.insert(static_cast<std::int32_t>(n));
      Ids ids = path(trace, n);
      ids.insert(ids.begin(), c.bos_id);
      tape.clear();
      const Spans sources = spans_of({static_cast<Index>(input.source.size())});
      Var memory = transformer.encode(tape, input.source, sources);
      Var logits = transformer.logits(
          tape, transformer.decode(tape, ids, spans_of({static_cast<Index>(ids.size())}), memory, sources));
      RowVector row = logits.value().row(logits.rows() - 1);
      for (const auto& [id, log_probability] : most_probable(row, row.size() - 2, token_columns(c)))
        expected.push_back(trace[n].sum + static_cast<double>(log_probability));
    }
    for (std::size_t n : lengths.at(length)) {
      found.push_back(trace[n].sum);
      extended.erase(trace[n].parent);
    }
    CHECK(extended.empty());  // each has a child to show why it ended
    std::sort(expected.rbegin(), expected.rend());
    std::sort(found.rbegin(), found.rend());
    REQUIRE(found.size() >= 2 * beam_size);
    CHECK(found.size() < 3 * beam_size);
    for (std::size_t i = 0; i < 2 * beam_size; ++i) CHECK(std::abs(found[i] - expected[i]) < tolerance);
  }
}

TEST_CASE("Tracing does not change the results") {
  const ModelFile model = letters_model(7, 1);
  const auto plain = search(model, input, {.beam_size = 4}),
             traced = search(model, input, {.beam_size = 4, .beam_trace = true});
  REQUIRE(plain.hypotheses.size() == traced.hypotheses.size());
  for (std::size_t i = 0; i < plain.hypotheses.size(); ++i) {
    CHECK(plain.hypotheses[i].ids == traced.hypotheses[i].ids);
    CHECK(plain.hypotheses[i].score == traced.hypotheses[i].score);
  }
  for (const TracedToken& t : plain.trace) CHECK(t.outcome != BeamOutcome::crowded_out);  // was not kept
}

TEST_CASE("A prefix is the trunk of the tree") {
  const ModelFile model = letters_model(8, 1);
  const Trace trace = search(model, {{5, 6, 3}, {8, 9}, 10}, {.beam_size = 2, .beam_trace = true}).trace;
  CHECK(trace[1].id == 8);
  CHECK(trace[2].id == 9);
  CHECK((trace[1].outcome == BeamOutcome::kept && trace[2].outcome == BeamOutcome::kept));
  for (std::size_t n = 3; n < trace.size(); ++n) CHECK(trace[n].parent >= 2);
}

TEST_CASE("A translation includes its tree, with pieces") {
  const ModelFile model = letters_model(9, 1);
  ThreadPool pool;
  TranslateOptions options{.beam_size = 3, .n_best = 2, .beam_trace = true};
  const auto all = translate_in_batches(model, pool, {"abc", "", "h"}, options, 100);
  CHECK(!all[1].beam);
  for (std::size_t i : {0, 2}) {
    const Translation& t = all[i];
    REQUIRE(t.beam);
    CHECK(t.beam->at(0).piece == "<s>");
    std::vector<Index> returned;
    for (const BeamNode& node : *t.beam) {
      CHECK(node.piece == model.target_tokenizer->piece(node.id));
      if (!node.hypothesis) continue;
      returned.push_back(*node.hypothesis);
      const Hypothesis& h =
          *node.hypothesis == 0 ? t : t.alternatives.at(static_cast<std::size_t>(*node.hypothesis) - 1);
      CHECK(node.state == "ended");
      CHECK(node.score == h.score);
      const BeamNode* at = &node;
      for (auto token = h.tokens.rbegin(); token != h.tokens.rend(); ++token) {
        CHECK(at->id == token->id);
        CHECK(at->log_probability == token->log_probability);
        at = &t.beam->at(static_cast<std::size_t>(at->parent));
      }
      CHECK(at == &t.beam->front());
    }
    std::sort(returned.begin(), returned.end());
    CHECK(returned == std::vector<Index>{0, 1});
  }
  options.beam_trace = false;
  CHECK(!translate_in_batches(model, pool, {"abc"}, options, 100)[0].beam);
}

TEST_CASE("Each node of a tree states its fate in words") {
  std::set<std::string> outcomes;
  ThreadPool pool;
  for (std::uint64_t seed : {4, 5, 6, 7}) {
    for (double end_bias : {0.0, 2.5}) {
      const ModelFile model = letters_model(seed, end_bias);
      const auto found = translate_in_batches(model, pool, {"abc"}, {.beam_size = 3, .beam_trace = true}, 100);
      for (const BeamNode& node : found[0].beam.value()) outcomes.insert(node.state + node.reason.value_or(""));
    }
  }
  CHECK(outcomes == std::set<std::string>{"kept", "ended", "prunedbeam", "prunedscore", "prunedfinished"});
}
