// Beam search, greedy search and sampling over cached steps, for a batch of sentences (Vaswani et al. 2017,
// section 6.1; length penalty of Wu et al. 2016). Each call of step() extends every live hypothesis by one
// token.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/transformer.h"
#include "tasks/translate/translate_options.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

struct SearchInput {
  std::vector<TokenId> source = {};  // ends with the end token
  std::vector<TokenId> prefix = {};  // forced start of the target; with the end token last it is all of it
  Index max_length = 0;              // target tokens at most, end token included
  std::uint64_t number = 0;          // sampling draws differently for each number
  // Ascending; only these, the end token and the prefix's tokens are chosen. Empty (in all inputs or in none): all.
  std::vector<TokenId> candidates = {};
};

struct FoundHypothesis {
  std::vector<TokenId> ids;  // the end token last, unless max_length cut it off
  std::vector<float> log_probabilities;
  double sum = 0;    // of log_probabilities
  double score = 0;  // sum / ((5 + n) / 6)^length_penalty, n = ids.size()
};

// What became of a token that a search considered.
enum class Fate : std::uint8_t {
  kept,         // it was in the beam of its step, and extended
  ended,        // it is the end token, or max_length cut it off: a finished hypothesis
  crowded_out,  // better ones filled the beam
  outscored,    // it ended, but beam_size others ended with better scores
  too_late      // the search was over: no live hypothesis could still win
};

struct TracedToken {
  std::int32_t parent;  // its place in the trace, before this one's; -1 at the begin token, which is first
  TokenId id;
  float log_probability;
  double sum;    // of log-probabilities from the begin token
  double score;  // sum / ((5 + length) / 6)^length_penalty
  Index length;  // target tokens up to here
  Fate fate;
  Index hypothesis;  // its place in hypotheses(); -1: none
};

using Choice = std::pair<TokenId, float>;  // a token and its log-probability

// The k >= 1 best tokens of a row of scores, best first; pad and begin, which are never chosen, count for
// nothing. `row`: [1, vocabulary], changed at these two. Throws Error when the scores are not numbers.
std::vector<Choice> most_probable(Eigen::Ref<RowVector> row, Index k, const Config& config);

class Search {
 public:
  // The pad and begin tokens are never chosen. Uses beam_size, length_penalty, sampling, the masks and beam_trace of
  // `options`. Throws Error as checked() does, and when a source, prefix or mask does not fit the model.
  Search(const Transformer& transformer, ThreadPool& pool, std::vector<SearchInput> inputs,
         const TranslateOptions& options);

  // Calls `observer`, which must outlive this, for every matrix product from the next step on.
  void observe(const Tape::Observer* observer) { tape_.observe(observer); }

  // False when every sentence had ended already. A sentence ends when beam_size of its hypotheses have ended
  // and no live one scores above the best of them, or at its max_length, where live ones count as ended.
  bool step();

  // Of sentence i, once it has ended: best first, at most beam_size. Before that: the best live one.
  std::vector<FoundHypothesis> hypotheses(Index i) const;

  // Everything that the search of sentence i considered, parents before children: of each step the 2
  // beam_size best candidates, and the best one of a hypothesis that has none among them. Needs beam_trace,
  // and a sentence that has ended.
  std::vector<TracedToken> trace(Index i) const;

  // Of its sources, packed one after the other.
  const Masks& masks() const { return masks_; }

  const TranslateOptions& options() const { return options_; }  // as checked() returns them

  // How many hypotheses of all sentences the next step extends.
  Index living() const { return static_cast<Index>(live_.size()); }

 private:
  // Hypotheses are a tree: each is its last token and, before it, the hypothesis that it extends. A
  // sentence's root is the begin token. All that were ever live or ended stay; with beam_trace, all that were
  // considered.
  struct Node {
    std::int32_t parent;  // in nodes_; -1 at a root
    TokenId id;
    float log_probability;
    Fate fate;
    double sum;  // of the log-probabilities from the root
  };
  struct Live {
    std::int32_t node;
    std::int32_t sentence;
  };
  struct Ended {
    std::int32_t node;
    double score;
  };
  struct Candidate {
    Index parent;  // index in live_
    TokenId id;
    float log_probability;
    double sum;
  };
  struct Sentence {
    SearchInput input;  // its candidates: the scored tokens, ascending; empty: all
    Config columns;     // among the scores: the columns of pad and begin; and how many scores
    std::unique_ptr<Transformer::OutputRows> output{};  // of the candidates, if there are any
    std::vector<Ended> ended;                           // best first, at most beam_size
    Index length = 0;                                   // of its live hypotheses
    bool done = false;
    Random random{1};
  };

  void choose_output(Sentence& sentence) const;
  Eigen::Map<RowVector> scores(std::size_t row, const Sentence& sentence) const;
  void forward();
  Choice sample(std::span<const Choice> choices, double* weights, Random& random) const;
  void extend(Sentence& sentence, std::int32_t place);
  void trace_unseen(std::size_t considered);
  std::int32_t add(const Node& node);
  void end(Sentence& sentence, std::int32_t node, Index length);
  double score(double sum, Index length) const;
  FoundHypothesis found(std::int32_t node, double score) const;

  const Transformer& transformer_;
  TranslateOptions options_;
  Tape tape_;
  std::vector<Sentence> sentences_;
  Spans source_spans_;
  Masks masks_;
  std::vector<Node> nodes_;
  std::vector<Live> live_;  // in the order of the cache's slots
  Cache cache_;
  bool started_ = false;

  // Of one step; kept for their memory.
  std::vector<TokenId> ids_;
  std::vector<Scalar*> scores_;  // one row per id
  Spans spans_, memory_spans_;
  std::vector<Candidate> candidates_;
  std::vector<Live> next_;
  std::vector<Index> parents_;
};

}  // namespace wasmformer
