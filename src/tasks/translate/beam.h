// The choices of beam search (Vaswani et al. 2017, section 6.1) on plain numbers, for one sentence: candidates with
// their sums of log-probabilities in, what becomes of them out. The model is search.h's matter.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

// The outcome of a token that a search considered.
enum class BeamOutcome : std::uint8_t {
  kept,         // it was in the beam of its step, and extended
  ended,        // it is the end token, or max_length cut it off: a finished hypothesis
  crowded_out,  // better ones filled the beam
  outscored,    // it ended, but the beam's width of others ended with better scores
  too_late      // the search was over: no live hypothesis could still win
};

// A live hypothesis with one more token.
struct BeamCandidate {
  Index parent;  // the hypothesis
  TokenId id;
  float log_probability;
  double sum;  // sum of the log-probabilities of all its tokens
};

struct BeamChoice {
  BeamCandidate candidate;
  BeamOutcome outcome;  // kept, ended or crowded_out
};

// Σ log p / ((5 + length) / 6)^length_penalty (Wu et al. 2016, equation 14).
double beam_score(double sum, Index length, double length_penalty);

// Chooses among the best 2 · width candidates, which are enough to continue even if the whole beam ends. Kept are the
// best `width` that do not end; ended are those that end and are among the best `width` of all.
// `chosen` gets the choices, best first. Moves the considered candidates to the front; returns how many they are.
std::size_t choose_candidates(std::span<BeamCandidate> candidates, Index width, TokenId eos,
                              std::vector<BeamChoice>& chosen);

// The best candidate of each parent that has none among the first `considered`, by parent. Sorts the others.
std::vector<BeamCandidate> best_of_other_parents(std::span<BeamCandidate> candidates, std::size_t considered);

// The finished hypotheses of a sentence.
class FinishedHypotheses {
 public:
  struct Entry {
    std::int32_t node;  // the caller's name for it
    double score;       // by which they are ordered
  };

  explicit FinishedHypotheses(Index width);

  // Returns the node that no longer is among the best, if one is not.
  std::optional<std::int32_t> add(Entry entry);
  // Best first, at most `width`; of equal ones the earlier first.
  const std::vector<Entry>& best() const { return entries_; }
  // Returns whether there are `width` of them, the best of which scores no lower than the best live hypothesis.
  bool beat(double best_live_score) const;

 private:
  std::size_t width_;
  std::vector<Entry> entries_;
};

}  // namespace wasmformer
