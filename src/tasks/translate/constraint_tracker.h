// Progress of a hypothesis with its sentence's constraints. Each spelling is followed as Knuth, Morris and Pratt do, so
// that one that the model has begun by itself, or broken off, counts as what it is.
#pragma once

#include <vector>

#include "tasks/translate/constraints.h"
#include "text/tokenizer.h"

namespace wasmformer {

class ConstraintTracker {
 public:
  // State of one hypothesis.
  struct State {
    std::vector<int> counts;        // occurrences of each constraint
    std::vector<int> progress;      // pieces of each spelling that stand at the end of the hypothesis
    std::vector<char> unconfirmed;  // for each constraint: true if the last piece completed it, which may still
                                    // be the start of a longer word
    // True if the last piece ends inside a word: with a letter, digit, apostrophe or hyphen. Also true at the start,
    // where words begin with the mark of a space as they do elsewhere.
    bool is_within_word = true;
  };

  // A piece that brings a constraint nearer to its `least`.
  struct Step {
    TokenId id;
    std::size_t constraint;
    bool begins;  // it is the first of its spelling
  };

  // `tokenizer`, of the target, must outlive it; it may be null if no constraint is a word.
  ConstraintTracker(std::vector<Constraint> constraints, const Tokenizer* tokenizer);

  State start() const;
  void advance(State& state, TokenId id) const;

  // Returns the number of tokens until every `least` is met.
  Index needed(const State& state) const;
  // The same if the next piece breaks off a spelling that has begun, or makes a longer word of a completed one.
  Index needed_at_most(const State& state) const;
  // The steps from here, of all constraints that are below their `least`.
  void steps(const State& state, std::vector<Step>& steps) const;
  // The tokens that must not follow: pieces that would bring a constraint above its `most`, and the end token before
  // every `least` is met.
  std::vector<TokenId> forbidden(const State& state, TokenId eos) const;

  bool has_places() const;

  const std::vector<Constraint>& constraints() const { return constraints_; }

 private:
  struct Spelling {
    std::vector<TokenId> pieces;
    std::vector<int> fallback;  // for each length of a beginning, the longest shorter one that also ends there
    std::size_t constraint;
    bool begins_within_word;  // its first piece has no space before its first letter
  };

  bool continues_word(TokenId id) const;
  bool ends_within_word(TokenId id) const;
  int advanced(const Spelling& spelling, int progress, TokenId id, bool is_within_word) const;

  std::vector<Constraint> constraints_;
  std::vector<int> longest_;  // pieces of the longest spelling of each constraint
  std::vector<Spelling> spellings_;
  const Tokenizer* tokenizer_;
};

}  // namespace wasmformer
