#include "tasks/translate/constraint_tracker.h"

#include <algorithm>
#include <utility>

#include "text/unicode/letters.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

// For each beginning of `pieces`, the longest shorter beginning that is also its end.
std::vector<int> fallbacks(const std::vector<TokenId>& pieces) {
  std::vector<int> result(pieces.size() + 1, 0);
  for (std::size_t size = 2; size <= pieces.size(); ++size) {
    int longest = result[size - 1];
    while (longest > 0 && pieces[static_cast<std::size_t>(longest)] != pieces[size - 1])
      longest = result[static_cast<std::size_t>(longest)];
    if (pieces[static_cast<std::size_t>(longest)] == pieces[size - 1]) ++longest;
    result[size] = longest;
  }
  return result;
}

}  // namespace

ConstraintTracker::ConstraintTracker(std::vector<Constraint> constraints, const Tokenizer* tokenizer)
    : constraints_(std::move(constraints)), tokenizer_(tokenizer) {
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    std::size_t longest = 0;
    for (const std::vector<TokenId>& pieces : constraints_[c].spellings) {
      longest = std::max(longest, pieces.size());
      spellings_.push_back({.pieces = pieces,
                            .fallback = fallbacks(pieces),
                            .constraint = c,
                            .begins_within_word = constraints_[c].is_word && continues_word(pieces.front())});
    }
    longest_.push_back(static_cast<int>(longest));
  }
}

ConstraintTracker::State ConstraintTracker::start() const {
  return {.counts = std::vector<int>(constraints_.size(), 0),
          .progress = std::vector<int>(spellings_.size(), 0),
          .unconfirmed = std::vector<char>(constraints_.size(), 0)};
}

bool ConstraintTracker::continues_word(TokenId id) const {
  if (tokenizer_ == nullptr || tokenizer_->byte_pieces().byte(id) != BytePieces::none) return false;
  const std::u32string piece = decode_utf8(tokenizer_->piece(id));
  return !piece.empty() && is_of_word(piece.front());
}

bool ConstraintTracker::ends_within_word(TokenId id) const {
  if (tokenizer_ == nullptr || tokenizer_->byte_pieces().byte(id) != BytePieces::none) return false;
  const std::u32string piece = decode_utf8(tokenizer_->piece(id));
  constexpr std::u32string_view inner_marks = U"'’-";
  return !piece.empty() && (is_of_word(piece.back()) || inner_marks.find(piece.back()) != inner_marks.npos);
}

// How many pieces of the spelling stand at the end after one more token.
int ConstraintTracker::advanced(const Spelling& spelling, int progress, TokenId id, bool is_within_word) const {
  const auto next = [&] { return spelling.pieces[static_cast<std::size_t>(progress)]; };
  while (progress > 0 && next() != id) progress = spelling.fallback[static_cast<std::size_t>(progress)];
  const bool cannot_begin = progress == 0 && spelling.begins_within_word && is_within_word;
  return next() == id && !cannot_begin ? progress + 1 : progress;
}

void ConstraintTracker::advance(State& state, TokenId id) const {
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    const bool was_within_word = state.unconfirmed[c] != 0 && constraints_[c].is_word && continues_word(id);
    if (was_within_word) --state.counts[c];
    state.unconfirmed[c] = 0;
  }
  for (std::size_t s = 0; s < spellings_.size(); ++s) {
    const Spelling& spelling = spellings_[s];
    int& progress = state.progress[s];
    progress = advanced(spelling, progress, id, state.is_within_word);
    if (progress < static_cast<int>(spelling.pieces.size())) continue;
    progress = 0;  // occurrences do not overlap
    char& is_counted = state.unconfirmed[spelling.constraint];
    if (is_counted == 0) ++state.counts[spelling.constraint];
    is_counted = 1;
  }
  state.is_within_word = ends_within_word(id);
}

Index ConstraintTracker::needed(const State& state) const {
  Index needed = 0, saved = 0;
  for (std::size_t c = 0; c < constraints_.size(); ++c)
    needed += longest_[c] * std::max(0, constraints_[c].least - state.counts[c]);
  for (std::size_t s = 0; s < spellings_.size(); ++s) {
    const std::size_t c = spellings_[s].constraint;
    if (state.counts[c] >= constraints_[c].least) continue;
    const Index rest = static_cast<Index>(spellings_[s].pieces.size()) - state.progress[s];
    if (state.progress[s] > 0) saved = std::max(saved, longest_[c] - rest);
  }
  return needed - saved;
}

Index ConstraintTracker::needed_at_most(const State& state) const {
  Index needed = 0;
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    const bool may_be_broken = constraints_[c].is_word && state.unconfirmed[c] != 0;
    const int certain = state.counts[c] - (may_be_broken ? 1 : 0);
    needed += longest_[c] * std::max(0, constraints_[c].least - certain);
  }
  return needed;
}

void ConstraintTracker::steps(const State& state, std::vector<Step>& steps) const {
  steps.clear();
  for (std::size_t s = 0; s < spellings_.size(); ++s) {
    const Spelling& spelling = spellings_[s];
    const std::size_t c = spelling.constraint;
    if (state.counts[c] >= constraints_[c].least) continue;
    const int progress = state.progress[s];
    const bool cannot_begin = spelling.begins_within_word && state.is_within_word;
    if (progress > 0) steps.push_back({spelling.pieces[static_cast<std::size_t>(progress)], c, /*begins=*/false});
    if (!cannot_begin) steps.push_back({spelling.pieces.front(), c, /*begins=*/true});
  }
}

std::vector<TokenId> ConstraintTracker::forbidden(const State& state, TokenId eos) const {
  std::vector<TokenId> ids;
  if (needed(state) > 0) ids.push_back(eos);
  for (const Spelling& spelling : spellings_) {
    const Constraint& constraint = constraints_[spelling.constraint];
    if (constraint.most == Constraint::any_number) continue;
    State after = state;
    advance(after, spelling.pieces.back());
    if (after.counts[spelling.constraint] > constraint.most) ids.push_back(spelling.pieces.back());
  }
  return ids;
}

bool ConstraintTracker::has_places() const {
  return std::any_of(constraints_.begin(), constraints_.end(), [](const Constraint& c) { return !c.places.empty(); });
}

}  // namespace wasmformer
