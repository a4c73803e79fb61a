// Beam search, greedy search and sampling over cached steps, for a batch of sentences (Vaswani et al. 2017, section
// 6.1). This file drives the model; beam.h and sampling.h choose. Each call of step() extends every live hypothesis by
// one token.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/transformer.h"
#include "tasks/translate/banks.h"
#include "tasks/translate/constraint_tracker.h"
#include "tasks/translate/next_token.h"
#include "tasks/translate/spelling.h"
#include "tasks/translate/translate_options.h"
#include "tensor/thread_pool.h"
#include "text/tokenizer.h"

namespace wasmformer {

struct SearchInput {
  std::vector<TokenId> source = {};  // ends with the end token
  std::vector<TokenId> prefix = {};  // forced start of the target; with the end token last it is all of it
  Index max_length = 0;              // target tokens at most, end token included
  std::uint64_t number = 0;          // sampling draws differently for each number
  // Ascending; only these, the end token and the prefix's tokens are chosen. Empty (in all inputs or in none): all.
  std::vector<TokenId> candidates = {};
  // Tokenizer of the target; it must outlive the search. Null: tokens are numbers, and byte pieces spell anything.
  const Tokenizer* tokenizer = nullptr;
  // Characters that byte pieces may spell. A prefix may have other characters; one that it ends inside of is completed.
  CharacterSet characters = {};
  // Constraints on the translation. Those that no length up to max_length can meet are met as far as it
  // goes. A beam of one is then a beam of two while hypotheses differ in the constraints they have met.
  std::vector<Constraint> constraints = {};
};

// A finished or unfinished hypothesis as tokens.
struct SearchHypothesis {
  std::vector<TokenId> ids;  // the end token last, unless max_length cut it off
  std::vector<float> log_probabilities;
  double sum = 0;    // sum of log_probabilities
  double score = 0;  // sum / ((5 + n) / 6)^length_penalty, n = ids.size()
};

struct TracedToken {
  std::int32_t parent;  // its index in the trace, before this one's; -1 at the begin token, which is first
  TokenId id;
  float log_probability;
  double sum;    // sum of log-probabilities from the begin token
  double score;  // sum / ((5 + length) / 6)^length_penalty
  Index length;  // target tokens up to here
  BeamOutcome outcome;
  Index hypothesis;  // its index in hypotheses(); -1: none
};

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

  // Hypotheses of sentence i once it has ended, best first, at most beam_size; before that, the best live one.
  std::vector<SearchHypothesis> hypotheses(Index i) const;

  // Everything that the search of sentence i considered, parents before children: of each step the 2
  // beam_size best candidates, and the best one of a hypothesis that has none among them. Needs beam_trace,
  // and a sentence that has ended.
  std::vector<TracedToken> trace(Index i) const;

  // Masks of the source sentences, which are packed one after the other.
  const Masks& masks() const { return masks_; }

  const TranslateOptions& options() const { return options_; }  // as checked() returns them

  // Returns the number of hypotheses, of all sentences, that the next step extends.
  Index living() const { return static_cast<Index>(live_.size()); }

 private:
  // Hypotheses are a tree: each is its last token and, before it, the hypothesis that it extends. A
  // sentence's root is the begin token. All that were ever live or ended stay; with beam_trace, all that were
  // considered.
  struct Node {
    std::int32_t parent;  // in nodes_; -1 at a root
    TokenId id;
    float log_probability;
    BeamOutcome outcome;
    double sum;  // sum of the log-probabilities from the root
  };
  struct Live {
    std::int32_t node;
    std::int32_t sentence;
    Spelling::State spelled = Spelling::between;
    ConstraintTracker::State met = {};
    std::vector<TokenId> forbidden = {};  // by constraints
    std::vector<char> is_forced = {};     // for each constraint: true if a piece of it was improbable
    double forced_sum = 0;                // sum of the log-probabilities of such pieces
    Index forced_count = 0;               // number of such pieces
  };
  // A token that brings a hypothesis nearer to its constraints.
  struct Required {
    TokenScore token;
    bool is_late;  // true if the position of its constraint has passed
  };
  struct Sentence {
    SearchInput input;     // its candidates: the scored tokens, ascending; empty: all
    TokenColumns columns;  // columns of its scores
    FinishedHypotheses finished;
    Random random;
    std::unique_ptr<Transformer::OutputRows> shortlist = {};  // the output rows of the candidates, if there are any
    std::optional<Spelling> spelling = {};                    // only with byte pieces
    Spelling::State begun = Spelling::between;                // by the prefix
    std::optional<ConstraintTracker> tracker = {};            // only with constraints
    Index length = 0;                                         // tokens of its live hypotheses
    bool done = false;
  };
  // The most probable next tokens of every live hypothesis.
  struct NextTokens {
    TokenScore* tokens;  // live hypothesis i: from tokens[i · per_hypothesis] on, best first
    Index per_hypothesis;
  };

  void add_sentence(SearchInput input);
  void choose_shortlist(Sentence& sentence) const;

  // The parts of a step, in order.
  void gather_inputs();
  Var run_model();
  void score_tokens(Var hidden);
  void read_prefixes();
  NextTokens choose_tokens();
  void choose(std::size_t i, Eigen::Map<RowVector> row, std::span<TokenScore> best, std::span<double> weights);
  void advance(const NextTokens& next);

  // Defined in search_constraints.cpp.
  void gather_sources();
  bool has_translated(const Live& hypothesis, Index position) const;
  bool needs_attention() const;
  std::vector<float> attention_to_source(std::size_t i) const;
  bool is_in_place(const Constraint& constraint, const std::vector<float>& attention) const;
  void require(std::size_t i, Eigen::Map<RowVector> row, std::span<TokenScore> best, Scalar log_sum, bool would_end);
  void end_now(const Sentence& sentence, Eigen::Map<RowVector> row, std::span<TokenScore> best, Scalar log_sum) const;
  bool may_follow(const Live& hypothesis, std::span<const TokenScore> tokens) const;
  void forbid(const Live& hypothesis, Eigen::Map<RowVector> row) const;
  void follow(Live& hypothesis, TokenId id) const;
  Live extended(const Live& hypothesis, std::int32_t node) const;
  void count_forced(Live& extended, const Live& hypothesis, std::int32_t node) const;
  void bank_candidates(std::size_t first, std::size_t last);
  std::size_t choose_extensions(std::size_t first, std::size_t last);
  static TokenId column(const Sentence& sentence, TokenId id);

  std::size_t same_sentence_end(std::size_t first) const;
  Eigen::Map<RowVector> scores(std::size_t row, const Sentence& sentence) const;
  void extend(std::size_t first, std::size_t last);
  void end_if_over(Sentence& sentence, std::size_t first);
  std::int32_t add(const Node& node);
  void finish(Sentence& sentence, std::int32_t node, const Live& hypothesis);
  double score(double sum, Index length) const;
  double rank(std::int32_t node, const Live& hypothesis) const;
  SearchHypothesis hypothesis(std::int32_t node) const;

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

  // Values of one step; kept for their memory.
  std::vector<TokenId> ids_;
  std::vector<Scalar*> scores_;  // one row per id
  Spans spans_;                  // the rows that each live hypothesis reads of the target
  Masks seen_;                   // rows that the live hypotheses see
  Spans memory_spans_;           // the rows that each reads of the source: of those in seen_, if there are any
  std::vector<BeamCandidate> candidates_;
  std::vector<BeamChoice> chosen_;
  StackRecord record_;                           // only if constraints have positions
  std::vector<std::vector<Required>> required_;  // one per live hypothesis
  std::vector<BankedCandidate> banked_;
  std::vector<Live> next_live_;
  std::vector<Index> parents_;
};

}  // namespace wasmformer
