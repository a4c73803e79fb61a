#include "tasks/translate/beam.h"

#include <catch_amalgamated.hpp>
#include <cmath>
#include <limits>

using namespace wasmformer;

namespace {

constexpr TokenId eos = 3;
constexpr double impossible = -std::numeric_limits<double>::infinity();

BeamCandidate candidate(Index parent, TokenId id, double sum) {
  return {.parent = parent, .id = id, .log_probability = -1, .sum = sum};
}

// "parent:id outcome" of each choice, best first.
std::vector<std::string> choose(std::vector<BeamCandidate> candidates, Index beam_size) {
  std::vector<BeamChoice> chosen;
  choose_candidates(candidates, beam_size, eos, chosen);
  std::vector<std::string> result;
  for (const auto& [c, outcome] : chosen) {
    const char* word = outcome == BeamOutcome::kept ? "kept" : "crowded out";
    if (outcome == BeamOutcome::ended) word = "ended";
    result.push_back(std::to_string(c.parent) + ":" + std::to_string(c.id) + " " + word);
  }
  return result;
}

using Outcomes = std::vector<std::string>;

}  // namespace

TEST_CASE("A beam keeps its best candidates, wherever they come from") {
  CHECK(choose({candidate(0, 5, -3), candidate(0, 6, -1), candidate(1, 7, -2), candidate(1, 8, -4)}, 2) ==
        Outcomes{"0:6 kept", "1:7 kept", "0:5 crowded out", "1:8 crowded out"});
  CHECK(choose({candidate(0, 5, -3)}, 2) == Outcomes{"0:5 kept"});
  CHECK(choose({}, 2).empty());
}

TEST_CASE("Of equal candidates a beam prefers the earlier hypothesis, then the smaller token") {
  CHECK(choose({candidate(1, 5, -1), candidate(0, 9, -1), candidate(0, 8, -1), candidate(1, 4, -1)}, 1) ==
        Outcomes{"0:8 kept", "0:9 crowded out"});
}

TEST_CASE("A hypothesis ends if its end token is among the best, and frees a place for the next") {
  CHECK(choose({candidate(0, eos, -1), candidate(0, 5, -2), candidate(1, 6, -3), candidate(1, eos, -4)}, 2) ==
        Outcomes{"0:3 ended", "0:5 kept", "1:6 kept", "1:3 crowded out"});
}

TEST_CASE("A beam considers twice its size, and nothing that is impossible") {
  std::vector<BeamCandidate> candidates{candidate(0, 5, -1), candidate(0, 6, impossible), candidate(1, 7, -9),
                                        candidate(1, 8, -8), candidate(0, 9, -7),         candidate(1, 4, -6)};
  std::vector<BeamChoice> chosen;
  CHECK(choose_candidates(candidates, 2, eos, chosen) == 4);
  CHECK(choose(candidates, 2).size() == 4);
  CHECK(choose({candidate(0, 5, -1), candidate(0, 6, impossible)}, 2) == Outcomes{"0:5 kept"});
}

TEST_CASE("Hypotheses without a considered candidate show their best one") {
  // Of hypothesis 0, which has the two best, nothing is added.
  std::vector<BeamCandidate> candidates{candidate(0, 5, -1), candidate(0, 6, -2), candidate(2, 7, -5),
                                        candidate(1, 8, -9), candidate(1, 9, -8), candidate(0, 4, -3)};
  const std::vector<BeamCandidate> others = best_of_other_parents(candidates, 2);
  REQUIRE(others.size() == 2);
  CHECK((others[0].parent == 1 && others[0].id == 9));
  CHECK((others[1].parent == 2 && others[1].id == 7));
}

TEST_CASE("Finished hypotheses are the best of a beam, and beat live ones when there are enough") {
  FinishedHypotheses finished(2);
  CHECK(!finished.add({.node = 10, .score = -3}));
  CHECK(!finished.beat(-9));  // one is not enough
  CHECK(!finished.add({.node = 11, .score = -2}));
  CHECK(finished.beat(-2));
  CHECK(!finished.beat(-1.5));
  CHECK(finished.add({.node = 12, .score = -2.5}) == 10);
  CHECK(finished.add({.node = 13, .score = -9}) == 13);
  CHECK(finished.add({.node = 14, .score = -2}) == 12);  // of equal ones the earlier is first
  REQUIRE(finished.best().size() == 2);
  CHECK((finished.best()[0].node == 11 && finished.best()[1].node == 14));
}

TEST_CASE("The score of a hypothesis is its sum over the length penalty of Wu et al.") {
  CHECK(beam_score(-6, 7, 0) == -6);
  CHECK(beam_score(-6, 7, 1) == -3);
  CHECK(beam_score(-6, 1, 0.6) == -6);
  CHECK(beam_score(-6, 19, 0.5) == -3);
}
