#include "tasks/translate/search.h"

#include <algorithm>
#include <limits>

#include "tasks/translate/sampling.h"

namespace wasmformer {
namespace {

void check_input(const SearchInput& input, const Config& c) {
  const std::size_t source = input.source.size(), prefix = input.prefix.size();
  WASMFORMER_CHECK(source >= 1 && static_cast<Index>(source) <= c.max_length, ErrorCode::search,
                   "a sentence has " << source << " tokens; the model takes 1 to " << c.max_length);
  WASMFORMER_CHECK(input.max_length >= 1 && input.max_length <= c.max_length, ErrorCode::search,
                   "max_length " << input.max_length << " is not between 1 and the model's " << c.max_length);
  WASMFORMER_CHECK(
      static_cast<Index>(prefix) < input.max_length, ErrorCode::search,
      "a prefix of " << prefix << " tokens leaves no room in a translation of at most " << input.max_length);
  for (std::size_t j = 0; j < prefix; ++j) {
    const TokenId id = input.prefix[j];
    WASMFORMER_CHECK(id >= 0 && id < c.target_vocab_size, ErrorCode::search,
                     "a prefix cannot contain token " << id << "; the vocabulary has " << c.target_vocab_size);
    WASMFORMER_CHECK(id != c.pad_id && id != c.bos_id, ErrorCode::search,
                     "a prefix cannot contain token " << id << ", which is never chosen");
    WASMFORMER_CHECK(id != c.eos_id || j + 1 == prefix, ErrorCode::search,
                     "the prefix continues after token " << id << ", which ends a sentence");
  }
}

// With a slot for each hypothesis of the inputs, which are checked first: a cache may be large.
Cache make_cache(const std::vector<SearchInput>& inputs, Index beam_size, const Config& c) {
  Index length = 1;
  for (const SearchInput& input : inputs) {
    check_input(input, c);
    length = std::max(length, input.max_length);
    if (!input.constraints.empty()) beam_size = std::max(beam_size, least_divided_beam);
  }
  return Cache(c, static_cast<Index>(inputs.size()) * beam_size, length);
}

// Adds the byte pieces that may complete a character which the prefix ends inside of.
void add_continuations(const SearchInput& input, std::vector<TokenId>& ids) {
  if (input.tokenizer == nullptr || input.prefix.empty()) return;
  const BytePieces& pieces = input.tokenizer->byte_pieces();
  if (pieces.byte(input.prefix.back()) == BytePieces::none) return;
  constexpr int first_continuation = 0x80, last_continuation = 0xBF;
  for (int byte = first_continuation; byte <= last_continuation; ++byte) {
    const TokenId id = pieces.piece(static_cast<std::uint8_t>(byte));
    if (id != BytePieces::none) ids.push_back(id);
  }
}

// The state after the prefix; a character that it has begun must be completed, if the vocabulary can spell one.
Spelling::State begin_spelling(Spelling& spelling, const SearchInput& input) {
  Spelling::State state = Spelling::between;
  for (const TokenId id : input.prefix) state = spelling.after(state, id);
  if (state == Spelling::between || !spelling.complete(state)) return Spelling::between;
  const Index missing = Spelling::missing(state);
  const Index room = input.max_length - static_cast<Index>(input.prefix.size());
  WASMFORMER_CHECK(
      missing <= room, ErrorCode::search,
      "the prefix ends inside a character, which needs " << missing << " more tokens, but max_length leaves " << room);
  return state;
}

}  // namespace

Search::Search(const Transformer& transformer, ThreadPool& pool, std::vector<SearchInput> inputs,
               const TranslateOptions& options)
    : transformer_(transformer),
      options_(checked(options, transformer.config())),
      tape_(pool, /*recording=*/false),
      cache_(make_cache(inputs, options_.beam_size, transformer.config())) {
  const std::size_t beam = static_cast<std::size_t>(options_.beam_size);
  // A step adds at most beam_size that go on and beam_size that end; with beam_trace also the others that were
  // considered, and the best of each hypothesis that has none among them.
  const std::size_t nodes_per_step = (options_.beam_trace ? 3 : 2) * beam;
  std::size_t nodes = 0;
  for (SearchInput& input : inputs) {
    const std::size_t prefix = input.prefix.size();
    nodes += 1 + prefix + nodes_per_step * (static_cast<std::size_t>(input.max_length) - prefix);
    add_sentence(std::move(input));
  }
  const std::vector<std::vector<Index>> masked(sentences_.size(), options_.masked_source);
  masks_ = Masks(transformer.config(), options_.masked_heads, source_spans_, masked);
  seen_ = masks_;
  nodes_.reserve(nodes);
  for (std::size_t i = 0; i < sentences_.size(); ++i) {
    const std::int32_t root = add({.parent = -1,
                                   .id = transformer.config().bos_id,
                                   .log_probability = 0,
                                   .outcome = BeamOutcome::kept,
                                   .sum = 0});
    Live& hypothesis = live_.emplace_back(Live{.node = root, .sentence = static_cast<std::int32_t>(i)});
    const std::optional<ConstraintTracker>& tracker = sentences_[i].tracker;
    if (tracker) hypothesis.met = tracker->start();
    if (tracker) hypothesis.forbidden = tracker->forbidden(hypothesis.met, transformer.config().eos_id);
  }
  cache_.lengths.assign(live_.size(), 0);
}

void Search::add_sentence(SearchInput input) {
  const Index begin = source_spans_.empty() ? 0 : source_spans_.back().end();
  source_spans_.push_back({begin, static_cast<Index>(input.source.size())});
  const std::uint64_t seed = options_.sampling ? mix(options_.sampling->seed) + input.number : 1;
  sentences_.push_back({.input = std::move(input),
                        .columns = token_columns(transformer_.config()),
                        .finished = FinishedHypotheses(options_.beam_size),
                        .random = Random(seed)});
  Sentence& sentence = sentences_.back();
  if (!sentence.input.candidates.empty()) choose_shortlist(sentence);
  const Tokenizer* tokenizer = sentence.input.tokenizer;
  if (!sentence.input.constraints.empty()) sentence.tracker.emplace(std::move(sentence.input.constraints), tokenizer);
  if (tokenizer == nullptr || tokenizer->byte_pieces().is_empty()) return;
  sentence.spelling.emplace(tokenizer->byte_pieces(), std::move(sentence.input.characters), sentence.input.candidates);
  sentence.begun = begin_spelling(*sentence.spelling, sentence.input);
}

// The column of a token among the scored ones; all are, if there are none.
TokenId Search::column(const Sentence& sentence, TokenId id) {
  const std::vector<TokenId>& scored = sentence.input.candidates;
  if (scored.empty()) return id;
  return static_cast<TokenId>(std::lower_bound(scored.begin(), scored.end(), id) - scored.begin());
}

void Search::choose_shortlist(Sentence& sentence) const {
  const Config& c = transformer_.config();
  std::vector<TokenId>& scored = sentence.input.candidates;
  std::vector<TokenId> others = sentence.input.prefix;
  others.insert(others.end(), {c.pad_id, c.bos_id, c.eos_id});
  add_continuations(sentence.input, others);
  for (const Constraint& constraint : sentence.input.constraints)
    for (const std::vector<TokenId>& pieces : constraint.spellings)
      others.insert(others.end(), pieces.begin(), pieces.end());
  for (const TokenId id : others) {
    const auto at = std::lower_bound(scored.begin(), scored.end(), id);
    if (at == scored.end() || *at != id) scored.insert(at, id);
  }
  sentence.shortlist = std::make_unique<Transformer::OutputRows>(transformer_.output_rows(scored));
  sentence.columns.pad = column(sentence, c.pad_id);
  sentence.columns.bos = column(sentence, c.bos_id);
  sentence.columns.count = static_cast<Index>(scored.size());
}

bool Search::step() {
  if (live_.empty()) return false;
  tape_.clear();
  gather_inputs();
  gather_sources();
  score_tokens(run_model());
  if (!started_) read_prefixes();
  started_ = true;
  advance(choose_tokens());
  return !live_.empty();
}

// The tokens that the decoder reads: the last one of every live hypothesis; in the first step also the prefix.
void Search::gather_inputs() {
  ids_.clear();
  spans_.clear();
  for (const Live& h : live_) {
    const Index begin = static_cast<Index>(ids_.size());
    ids_.push_back(nodes_[h.node].id);
    if (!started_) {
      const auto& prefix = sentences_[h.sentence].input.prefix;
      ids_.insert(ids_.end(), prefix.begin(), prefix.end());
    }
    spans_.push_back({begin, static_cast<Index>(ids_.size()) - begin});
  }
}

// The decoder's hidden rows, one per token read. It embeds and masks; the cache holds what it read before. The first
// step also encodes the sources, whose keys and values the cache keeps.
Var Search::run_model() {
  Var memory;
  if (!started_) {
    std::vector<TokenId> sources;
    for (const Sentence& s : sentences_) sources.insert(sources.end(), s.input.source.begin(), s.input.source.end());
    memory = transformer_.encode(tape_, sources, source_spans_, masks_);
  }
  record_ = {};
  StackRecord* record = needs_attention() ? &record_ : nullptr;
  return transformer_.decode(tape_, ids_, spans_, memory, memory_spans_, &cache_, seen_, record);
}

// Fills scores_: one row per token read, of the whole vocabulary or of the sentence's shortlist.
void Search::score_tokens(Var hidden) {
  scores_.clear();
  const auto add_rows = [&](Var logits) {
    for (Index i = 0; i < logits.rows(); ++i) scores_.push_back(logits.mutable_value().row(i).data());
  };
  const bool has_shortlists = !sentences_[live_[0].sentence].input.candidates.empty();
  if (!has_shortlists) {
    add_rows(transformer_.logits(tape_, hidden));
    return;
  }
  for (std::size_t first = 0, last = 0; first < live_.size(); first = last) {
    last = same_sentence_end(first);
    const Index begin = spans_[first].begin, end = spans_[last - 1].end();
    const Sentence& sentence = sentences_[live_[first].sentence];
    add_rows(transformer_.logits(tape_, hidden, {begin, end - begin}, *sentence.shortlist));
  }
}

// Adds the prefixes to the hypotheses, with the probabilities that the model gives them.
void Search::read_prefixes() {
  for (std::size_t i = 0; i < live_.size(); ++i) {
    Sentence& s = sentences_[live_[i].sentence];
    for (const TokenId id : s.input.prefix) {
      const std::size_t row_number = static_cast<std::size_t>(spans_[i].begin + s.length);
      ++s.length;
      Eigen::Map<RowVector> row = scores(row_number, s);
      TokenScore best;
      const Scalar log_sum = most_probable(row, {&best, 1}, s.columns);
      const float log_probability = static_cast<float>(row(column(s, id)) - log_sum);
      const std::int32_t parent = live_[i].node;
      live_[i].node = add({.parent = parent,
                           .id = id,
                           .log_probability = log_probability,
                           .outcome = BeamOutcome::kept,
                           .sum = nodes_[parent].sum + log_probability});
      follow(live_[i], id);
    }
    live_[i].spelled = s.begun;
  }
}

// For each live hypothesis the most probable tokens, or the one that sampling draws.
Search::NextTokens Search::choose_tokens() {
  Index columns = 0;
  for (const Live& h : live_) columns = std::max(columns, sentences_[h.sentence].columns.count);
  // Twice the beam is enough to go on with even if the whole beam ends.
  Index wanted = 2 * options_.beam_size;
  if (options_.sampling) wanted = options_.sampling->top_k > 0 ? options_.sampling->top_k : columns;
  wanted = std::min(wanted, columns);

  const Index rows = living();
  required_.resize(static_cast<std::size_t>(rows));
  const NextTokens next{tape_.scratch<TokenScore>(rows * wanted), wanted};
  double* weights = tape_.scratch<double>(options_.sampling ? rows * wanted : 0);
  tape_.for_rows(rows, columns, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Sentence& s = sentences_[live_[i].sentence];
      const auto count = static_cast<std::size_t>(std::min(wanted, s.columns.count));
      const std::span<TokenScore> best(next.tokens + i * wanted, count);
      choose(static_cast<std::size_t>(i), scores(static_cast<std::size_t>(spans_[i].end() - 1), s), best,
             {weights + i * wanted, count});
    }
  });
  return next;
}

// Fills `best` with the most probable tokens that may follow a hypothesis, whose scores are `row`; sampling draws the
// first of them. Only where one of them must not follow, the row is looked through once more, without such tokens.
void Search::choose(std::size_t i, Eigen::Map<RowVector> row, std::span<TokenScore> best, std::span<double> weights) {
  const Live& hypothesis = live_[i];
  Sentence& s = sentences_[hypothesis.sentence];
  const auto choose_among_best = [&] {
    if (!s.input.candidates.empty()) {
      for (TokenScore& token : best) token.id = s.input.candidates[token.id];
    }
    if (options_.sampling) best[0] = sample(best, *options_.sampling, weights, s.random);
  };
  const Scalar log_sum = most_probable(row, best, s.columns);
  choose_among_best();
  const std::size_t chosen = options_.sampling ? 1 : best.size();
  const bool would_end = best[0].id == transformer_.config().eos_id;
  if (!may_follow(hypothesis, best.first(chosen))) {
    forbid(hypothesis, row);
    most_probable_of_rest(row, best, log_sum);
    choose_among_best();
  }
  if (s.tracker) require(i, row, best, log_sum, would_end);
}

// Extends every sentence's hypotheses by the chosen tokens; the cache follows the ones that stay.
void Search::advance(const NextTokens& next) {
  next_live_.clear();
  parents_.clear();
  for (std::size_t first = 0, last = 0; first < live_.size(); first = last) {
    last = same_sentence_end(first);
    Sentence& sentence = sentences_[live_[first].sentence];
    const bool is_ended_by_prefix = nodes_[live_[first].node].id == transformer_.config().eos_id;
    if (is_ended_by_prefix) {
      finish(sentence, live_[first].node, live_[first]);
      sentence.done = true;
      continue;
    }
    const Index per_parent = options_.sampling ? 1 : std::min(next.per_hypothesis, sentence.columns.count);
    candidates_.clear();
    for (std::size_t parent = first; parent < last; ++parent) {
      const TokenScore* tokens = next.tokens + static_cast<Index>(parent) * next.per_hypothesis;
      const double sum = nodes_[live_[parent].node].sum;
      for (Index j = 0; j < per_parent; ++j)
        candidates_.push_back({.parent = static_cast<Index>(parent),
                               .id = tokens[j].id,
                               .log_probability = tokens[j].score,
                               .sum = sum + tokens[j].score});
    }
    extend(first, last);
  }
  cache_.select(parents_);
  live_.swap(next_live_);
}

// Extends one sentence's hypotheses, from `first` up to `last`, by the best of candidates_.
void Search::extend(std::size_t first, std::size_t last) {
  Sentence& sentence = sentences_[live_[first].sentence];
  const std::size_t before = next_live_.size();
  const std::size_t considered = choose_extensions(first, last);
  ++sentence.length;
  const auto add_candidate = [&](const BeamCandidate& c, BeamOutcome outcome) {
    return add({.parent = live_[c.parent].node,
                .id = c.id,
                .log_probability = c.log_probability,
                .outcome = outcome,
                .sum = c.sum});
  };
  for (const auto& [candidate, outcome] : chosen_) {
    const bool is_crowded_out = outcome == BeamOutcome::crowded_out;
    if (is_crowded_out && !options_.beam_trace) continue;
    const std::int32_t node = add_candidate(candidate, outcome);
    if (is_crowded_out) continue;
    const Live& parent = live_[candidate.parent];
    if (outcome == BeamOutcome::ended) {
      finish(sentence, node, parent);
    } else {
      next_live_.push_back(extended(parent, node));
      parents_.push_back(candidate.parent);
    }
  }
  if (options_.beam_trace) {
    for (const BeamCandidate& candidate : best_of_other_parents(candidates_, considered))
      add_candidate(candidate, BeamOutcome::crowded_out);
  }
  end_if_over(sentence, before);
}

// Ends the sentence if no live hypothesis can still win, or all have their max_length. Its live hypotheses are those
// of next_live_ from `first` on.
void Search::end_if_over(Sentence& sentence, std::size_t first) {
  // They are ordered by sum; with forced tokens, another one may have the best rank.
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = first; i < next_live_.size(); ++i)
    best = std::max(best, rank(next_live_[i].node, next_live_[i]));
  const bool is_none_live = next_live_.size() == first;
  sentence.done = is_none_live || sentence.finished.beat(best);
  if (sentence.length == sentence.input.max_length && !sentence.done) {
    for (std::size_t i = first; i < next_live_.size(); ++i) finish(sentence, next_live_[i].node, next_live_[i]);
    sentence.done = true;
  }
  if (!sentence.done) return;
  for (std::size_t i = first; i < next_live_.size(); ++i) {
    BeamOutcome& outcome = nodes_[next_live_[i].node].outcome;
    if (outcome == BeamOutcome::kept) outcome = BeamOutcome::too_late;
  }
  next_live_.resize(first);
  parents_.resize(first);
}

// The place in live_ after the hypotheses of the same sentence.
std::size_t Search::same_sentence_end(std::size_t first) const {
  std::size_t last = first;
  while (last < live_.size() && live_[last].sentence == live_[first].sentence) ++last;
  return last;
}

Eigen::Map<RowVector> Search::scores(std::size_t row, const Sentence& sentence) const {
  return {scores_[row], sentence.columns.count};
}

std::int32_t Search::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<std::int32_t>(nodes_.size() - 1);
}

double Search::score(double sum, Index length) const {
  return beam_score(sum, length, options_.length_penalty.value_or(default_length_penalty));
}

// The score by which hypotheses of a sentence are ordered. What they were made to write costs the same in a short and a
// long one: divided by the length, an improbable term would make longer translations better.
double Search::rank(std::int32_t node, const Live& hypothesis) const {
  const Index length = sentences_[hypothesis.sentence].length - hypothesis.forced_count;
  return hypothesis.forced_sum + score(nodes_[node].sum - hypothesis.forced_sum, length);
}

// Takes a hypothesis, or `hypothesis` with one more token, as finished.
void Search::finish(Sentence& sentence, std::int32_t node, const Live& hypothesis) {
  nodes_[node].outcome = BeamOutcome::ended;
  const std::optional<std::int32_t> outscored = sentence.finished.add({node, rank(node, hypothesis)});
  if (outscored) nodes_[*outscored].outcome = BeamOutcome::outscored;
}

}  // namespace wasmformer
