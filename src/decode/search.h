// Beam search, greedy search and sampling over cached steps, for a batch of sentences (Vaswani et al. 2017,
// section 6.1; length penalty of Wu et al. 2016). Each call of step() extends every live hypothesis by one
// token.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/transformer.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

struct Sampling {
  double temperature = 1;
  Index top_k = 0;   // 0: all
  double top_p = 1;  // nucleus (Holtzman et al. 2020)
  std::uint64_t seed = 1;
};

struct SearchOptions {
  Index beam_size = 4;
  double length_penalty = 0.6;
  std::optional<Sampling> sampling;         // beam_size is then 1
  std::vector<AttentionHead> masked_heads;  // their output is 0
  bool trace = false;                       // keep what was pruned too; not with sampling
};

struct SearchInput {
  std::vector<TokenId> source;  // ends with the end token
  std::vector<TokenId> prefix;  // forced start of the target; with the end token last it is all of it
  Index max_length = 0;         // target tokens at most, the end token counted
  std::vector<Index> masked;    // positions in `source` that no attention looks at, counted from 0
};

struct FoundHypothesis {
  std::vector<TokenId> ids;  // the end token last, unless max_length cut it off
  std::vector<float> log_probabilities;
  double sum = 0;    // of log_probabilities
  double score = 0;  // sum / ((5 + n) / 6)^length_penalty, n = ids.size()
};

// What became of a token that a search considered. Kept: in the beam of its step, and extended. Ended: it is
// the end token, or max_length cut it off, and counts as a hypothesis. The others went no further, because
enum class Fate : std::uint8_t {
  kept,
  ended,
  crowded_out,  // better ones filled the beam
  outscored,    // it ended, but beam_size others ended with better scores
  too_late      // the search was over: nothing that lived could still win
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
  // The pad and begin tokens are never chosen. Throws Error when a source, prefix or mask does not fit the
  // model.
  Search(Transformer& transformer, ThreadPool& pool, std::vector<SearchInput> inputs,
         const SearchOptions& options);

  // False when every sentence had ended already. A sentence ends when beam_size hypotheses have and none that
  // lives scores above the best of them, or at its max_length, where the living ones count as ended.
  bool step();

  // Of sentence i, once it has ended: best first, at most beam_size. Before: the best that lives.
  std::vector<FoundHypothesis> hypotheses(Index i) const;

  // Everything that the search of sentence i considered, parents before children: of each step the 2
  // beam_size best candidates, and the best one of a hypothesis that has none among them. With options.trace,
  // once the sentence has ended.
  std::vector<TracedToken> trace(Index i) const;

  // Of its sources, packed one after the other.
  const Masks& masks() const { return masks_; }

  // How many hypotheses of all sentences the next step goes on with.
  Index living() const { return static_cast<Index>(live_.size()); }

 private:
  // Hypotheses are a tree: each is its last token and, before it, the hypothesis that it goes on from. A
  // sentence's root is the begin token. All that ever lived or ended stay; with options.trace, all that was
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
    SearchInput input;
    std::vector<Ended> ended;  // best first, at most beam_size
    Index length = 0;          // of its hypotheses that live
    bool done = false;
    Random random{1};
  };

  Var forward();
  Choice sample(std::span<const Choice> choices, double* weights, Random& random) const;
  void extend(Sentence& sentence, std::int32_t place);
  void trace_unseen(std::size_t considered);
  std::int32_t add(const Node& node);
  void end(Sentence& sentence, std::int32_t node, Index length);
  double score(double sum, Index length) const;
  FoundHypothesis found(std::int32_t node, double score) const;

  Transformer& transformer_;
  SearchOptions options_;
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
  Spans spans_, memory_spans_;
  std::vector<Candidate> candidates_;
  std::vector<Live> next_;
  std::vector<Index> parents_;
};

}  // namespace wasmformer
