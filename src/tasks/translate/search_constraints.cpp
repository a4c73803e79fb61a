// Constraints of a sentence in a step of its search: some tokens must not follow, others are considered
// beside the most probable ones, and the beam is divided among hypotheses by how much they have met.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tasks/translate/search.h"

namespace wasmformer {
namespace {

constexpr Scalar never = -std::numeric_limits<Scalar>::infinity();

// A constraint may begin once this share of a hypothesis' attention to the source lies on what it translates.
constexpr float least_attention = 0.2f;

// A piece of a constraint that is less probable than this was not the model's own choice.
constexpr float least_own_probability = 0.1f;

}  // namespace

// Returns whether a hypothesis has been made to write all that stands for a source token, other than the end of the
// source.
bool Search::has_translated(const Live& hypothesis, Index position) const {
  const Sentence& s = sentences_[hypothesis.sentence];
  if (hypothesis.is_forced.empty() || position + 1 == static_cast<Index>(s.input.source.size())) return false;
  const std::vector<Constraint>& constraints = s.tracker->constraints();
  for (std::size_t c = 0; c < constraints.size(); ++c) {
    const bool is_met = hypothesis.is_forced[c] != 0 && hypothesis.met.counts[c] >= constraints[c].least;
    const auto is_there = [&](const Span& place) { return place.begin <= position && position < place.end(); };
    if (is_met && std::any_of(constraints[c].places.begin(), constraints[c].places.end(), is_there)) return true;
  }
  return false;
}

// Source tokens that each live hypothesis sees: all that are not masked, except the source words of a term that it
// has been made to write. A model that would have chosen another word writes that word too if it sees its source again.
void Search::gather_sources() {
  seen_.source_rows.clear();
  memory_spans_.clear();
  const auto has_places = [&](const Live& h) {
    const std::optional<ConstraintTracker>& tracker = sentences_[h.sentence].tracker;
    return tracker && tracker->has_places();
  };
  const bool all_see_everything = masks_.source_rows.empty() && std::none_of(live_.begin(), live_.end(), has_places);
  for (const Live& h : live_) {
    const Span unmasked = masks_.source_spans[h.sentence];
    if (all_see_everything) {
      memory_spans_.push_back(unmasked);
      continue;
    }
    const Index begin = static_cast<Index>(seen_.source_rows.size());
    for (Index j = unmasked.begin; j < unmasked.end(); ++j) {
      const std::int32_t row = masks_.source_rows.empty() ? static_cast<std::int32_t>(j) : masks_.source_rows[j];
      const bool is_last_left = j + 1 == unmasked.end() && static_cast<Index>(seen_.source_rows.size()) == begin;
      if (is_last_left || !has_translated(h, row - source_spans_[h.sentence].begin)) seen_.source_rows.push_back(row);
    }
    memory_spans_.push_back({begin, static_cast<Index>(seen_.source_rows.size()) - begin});
  }
}

// Returns whether a step needs to know where hypotheses attend to.
bool Search::needs_attention() const {
  return std::any_of(live_.begin(), live_.end(), [&](const Live& h) {
    const std::optional<ConstraintTracker>& tracker = sentences_[h.sentence].tracker;
    return tracker && tracker->has_places() && tracker->needed(h.met) > 0;
  });
}

// The attention of live hypothesis i from its last token to each token of its source: the mean of the heads of all
// layers but the first, which sees little of the target; of a student, the head that its training guided (Marian's
// guided alignment).
std::vector<float> Search::attention_to_source(std::size_t i) const {
  if (record_.cross_attention.empty()) return {};
  const Config& c = transformer_.config();
  const std::size_t layers = record_.cross_attention.size();
  const bool is_student = c.decoder_self == DecoderSelf::ssru;
  const std::size_t first = is_student ? layers - 1 : std::min<std::size_t>(1, layers - 1);
  const Index heads = is_student ? 1 : c.num_heads;
  RowVector sum = RowVector::Zero(record_.cross_attention[first].probabilities[i].cols());
  for (std::size_t layer = first; layer < layers; ++layer) {
    const Matrix& probabilities = record_.cross_attention[layer].probabilities[i];
    const Index rows = probabilities.rows() / c.num_heads;
    for (Index head = 0; head < heads; ++head) sum += probabilities.row(head * rows + rows - 1);
  }
  sum /= static_cast<Scalar>(static_cast<Index>(layers - first) * heads);
  if (seen_.source_rows.empty()) return {sum.begin(), sum.end()};
  const Span source = source_spans_[live_[i].sentence];
  std::vector<float> attention(static_cast<std::size_t>(source.size), 0);
  for (Index j = 0; j < sum.size(); ++j)
    attention[static_cast<std::size_t>(seen_.source_rows[memory_spans_[i].begin + j] - source.begin)] = sum(j);
  return attention;
}

// Returns whether live hypothesis i has come to the place of a constraint.
bool Search::is_in_place(const Constraint& constraint, const std::vector<float>& attention) const {
  if (constraint.places.empty() || attention.empty()) return true;
  float share = 0;
  for (const Span& place : constraint.places)
    for (Index j = place.begin; j < std::min(place.end(), static_cast<Index>(attention.size())); ++j)
      share += attention[static_cast<std::size_t>(j)];
  return share >= least_attention;
}

// Fills required_[i], with tokens that bring live hypothesis i nearer to what it needs, and clears `best` if it must
// take one of them: where it would end, or has no more room for others.
void Search::require(std::size_t i, Eigen::Map<RowVector> row, std::span<TokenScore> best, Scalar log_sum,
                     bool would_end) {
  const Live& hypothesis = live_[i];
  const Sentence& s = sentences_[hypothesis.sentence];
  std::vector<Required>& required = required_[i];
  required.clear();
  const Index needed = s.tracker->needed(hypothesis.met), room = s.input.max_length - s.length;
  const Index needed_at_most = s.tracker->needed_at_most(hypothesis.met);
  const bool is_tight = needed_at_most + 1 >= room;
  if (needed == 0) {
    if (is_tight && needed_at_most > 0) end_now(s, row, best, log_sum);
    return;
  }
  const bool is_last_chance = would_end || is_tight;
  const std::vector<float> attention = attention_to_source(i);
  std::vector<ConstraintTracker::Step> steps;
  s.tracker->steps(hypothesis.met, steps);
  for (const ConstraintTracker::Step& step : steps) {
    const bool is_in_time = !step.begins || is_in_place(s.tracker->constraints()[step.constraint], attention);
    if (!is_in_time && !is_last_chance) continue;
    const Scalar score = row(column(s, step.id)) - log_sum;
    const TokenScore token{step.id, static_cast<float>(score)};
    ConstraintTracker::State after = hypothesis.met;
    s.tracker->advance(after, step.id);
    const bool is_nearer = s.tracker->needed(after) < needed;
    if (is_nearer && score > never && may_follow(hypothesis, {&token, 1}))
      required.push_back({token, /*is_late=*/!is_in_time});
  }
  if (required.empty()) return;
  if (options_.sampling) {
    const auto is_less = [](const Required& a, const Required& b) { return a.token.score < b.token.score; };
    best[0] = std::max_element(required.begin(), required.end(), is_less)->token;
    required.clear();
  } else if (is_last_chance) {
    for (TokenScore& token : best) token.score = static_cast<float>(never);
  }
}

// Leaves the end token alone to choose from: there is no room to repeat a term that another piece would lengthen.
void Search::end_now(const Sentence& sentence, Eigen::Map<RowVector> row, std::span<TokenScore> best,
                     Scalar log_sum) const {
  const TokenId eos = transformer_.config().eos_id;
  for (TokenScore& token : best) token.score = static_cast<float>(never);
  best[0] = {eos, static_cast<float>(row(column(sentence, eos)) - log_sum)};
}

bool Search::may_follow(const Live& hypothesis, std::span<const TokenScore> tokens) const {
  const Sentence& s = sentences_[hypothesis.sentence];
  const auto is_forbidden = [&](const TokenScore& token) {
    return std::find(hypothesis.forbidden.begin(), hypothesis.forbidden.end(), token.id) != hypothesis.forbidden.end();
  };
  if (s.spelling && !s.spelling->allows(hypothesis.spelled, tokens, s.input.max_length - s.length)) return false;
  return std::none_of(tokens.begin(), tokens.end(), is_forbidden);
}

// Sets the scores of tokens that may not follow to -∞.
void Search::forbid(const Live& hypothesis, Eigen::Map<RowVector> row) const {
  const Sentence& s = sentences_[hypothesis.sentence];
  if (s.spelling) s.spelling->forbid(row, hypothesis.spelled, s.input.max_length - s.length);
  for (const TokenId id : hypothesis.forbidden) row(column(s, id)) = never;
}

// Takes a token into what a hypothesis has spelled and met.
void Search::follow(Live& hypothesis, TokenId id) const {
  const Sentence& s = sentences_[hypothesis.sentence];
  if (s.spelling) hypothesis.spelled = s.spelling->after(hypothesis.spelled, id);
  if (!s.tracker) return;
  s.tracker->advance(hypothesis.met, id);
  hypothesis.forbidden = s.tracker->forbidden(hypothesis.met, transformer_.config().eos_id);
}

// A hypothesis with the token of `node`. What it has met, spelled, and so on is that of its parent with one more token.
Search::Live Search::extended(const Live& hypothesis, std::int32_t node) const {
  Live result{.node = node,
              .sentence = hypothesis.sentence,
              .spelled = hypothesis.spelled,
              .met = hypothesis.met,
              .is_forced = hypothesis.is_forced,
              .forced_sum = hypothesis.forced_sum,
              .forced_count = hypothesis.forced_count};
  follow(result, nodes_[node].id);
  if (sentences_[hypothesis.sentence].tracker) count_forced(result, hypothesis, node);
  return result;
}

// Takes the token of `node`, by which `extended` is longer, into what was forced, if it is improbable and brings a
// constraint nearer.
void Search::count_forced(Live& extended, const Live& hypothesis, std::int32_t node) const {
  const ConstraintTracker& tracker = *sentences_[hypothesis.sentence].tracker;
  const Node& token = nodes_[node];
  const bool is_forced = token.log_probability < std::log(least_own_probability) &&
                         tracker.needed(extended.met) < tracker.needed(hypothesis.met);
  if (!is_forced) return;
  extended.forced_sum += token.log_probability;
  ++extended.forced_count;
  extended.is_forced.resize(tracker.constraints().size());
  std::vector<ConstraintTracker::Step> steps;
  tracker.steps(hypothesis.met, steps);
  for (const ConstraintTracker::Step& step : steps)
    if (step.id == token.id) extended.is_forced[step.constraint] = 1;
}

// Chooses among candidates_ of the hypotheses from `first` up to `last`, and what constraints require of them; returns
// how many of candidates_ were considered.
std::size_t Search::choose_extensions(std::size_t first, std::size_t last) {
  const Sentence& sentence = sentences_[live_[first].sentence];
  const TokenId eos = transformer_.config().eos_id;
  if (!sentence.tracker) return choose_candidates(candidates_, options_.beam_size, eos, chosen_);
  bank_candidates(first, last);
  const auto needs_the_same = [&](const BankedCandidate& c) { return c.needed == banked_.front().needed; };
  const bool is_divided = !std::all_of(banked_.begin(), banked_.end(), needs_the_same);
  const Index width = is_divided ? std::max(options_.beam_size, least_divided_beam) : options_.beam_size;
  choose_from_banks(banked_, width, eos, chosen_);
  return candidates_.size();
}

// Fills banked_ with candidates_ and with what is required, but for what comes late if another has met everything.
void Search::bank_candidates(std::size_t first, std::size_t last) {
  const Sentence& sentence = sentences_[live_[first].sentence];
  banked_.clear();
  bool is_met = !sentence.finished.best().empty();
  const auto add = [&](const BeamCandidate& candidate) {
    ConstraintTracker::State met = live_[candidate.parent].met;
    sentence.tracker->advance(met, candidate.id);
    banked_.push_back({candidate, sentence.tracker->needed(met)});
    is_met |= banked_.back().needed == 0;
  };
  for (const BeamCandidate& candidate : candidates_)
    if (candidate.log_probability > never) add(candidate);
  const auto add_required = [&](std::size_t parent, bool is_late) {
    for (const Required& required : required_[parent]) {
      const auto is_known = [&](const BankedCandidate& c) {
        return c.candidate.parent == static_cast<Index>(parent) && c.candidate.id == required.token.id;
      };
      const auto& [id, score] = required.token;
      if (required.is_late != is_late || std::any_of(banked_.begin(), banked_.end(), is_known)) continue;
      add({.parent = static_cast<Index>(parent),
           .id = id,
           .log_probability = score,
           .sum = nodes_[live_[parent].node].sum + static_cast<double>(score)});
    }
  };
  for (std::size_t parent = first; parent < last; ++parent) add_required(parent, /*is_late=*/false);
  if (is_met) return;
  for (std::size_t parent = first; parent < last; ++parent) add_required(parent, /*is_late=*/true);
}

}  // namespace wasmformer
