#include "tasks/translate/glossary.h"

#include <algorithm>

#include "text/unicode/letters.h"
#include "text/unicode/unicode.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

constexpr char32_t any_ending = U'*';

std::size_t count_visible(std::u32string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char32_t c) { return !is_white_space(c); }));
}

// How many characters a piece spells, without spaces; those of byte pieces count where they begin.
std::size_t count_spelled(const Tokenizer& tokenizer, TokenId id) {
  constexpr int continuation = 0x80, after_continuations = 0xC0;
  constexpr char32_t space_mark = 0x2581;  // ▁
  const int byte = tokenizer.byte_pieces().byte(id);
  if (byte != BytePieces::none) return byte >= continuation && byte < after_continuations ? 0 : 1;
  const std::u32string piece = decode_utf8(tokenizer.piece(id));
  return piece.size() - static_cast<std::size_t>(std::count(piece.begin(), piece.end(), space_mark));
}

// The source tokens that spell the visible characters from `begin` up to `end`. Where the tokenizer normalizes what
// stands before them, this may be off by a little.
Span tokens_of(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens, std::size_t begin, std::size_t end) {
  const Index last = static_cast<Index>(tokens.size()) - 2;  // without the end token
  Index first_token = last, end_of_tokens = last + 1;
  std::size_t at = 0;
  bool is_begun = false;
  for (Index i = 0; i <= last && at < end; ++i) {
    at += count_spelled(tokenizer, tokens[static_cast<std::size_t>(i)]);
    if (at > begin && !is_begun) first_token = i;
    is_begun |= at > begin;
    end_of_tokens = i + 1;
  }
  return {first_token, std::max<Index>(1, end_of_tokens - first_token)};
}

// The pieces of a term after a space and, as other pieces, directly after a bracket or, where words have no spaces
// between them, after another word.
std::vector<std::vector<TokenId>> spellings(const Tokenizer& tokenizer, const std::string& term) {
  std::vector<std::vector<TokenId>> result;
  if (std::vector<TokenId> after_space = tokenizer.encode(" " + term); !after_space.empty())
    result.push_back(std::move(after_space));
  for (const std::string before : {"(", "，"}) {
    const std::vector<TokenId> start = tokenizer.encode(before), all = tokenizer.encode(before + term);
    const bool is_divided = all.size() > start.size() && std::equal(start.begin(), start.end(), all.begin());
    if (!is_divided) continue;
    std::vector<TokenId> rest(all.begin() + static_cast<std::ptrdiff_t>(start.size()), all.end());
    if (std::find(result.begin(), result.end(), rest) == result.end()) result.push_back(std::move(rest));
  }
  return result;
}

// How often `inner` stands in `outer`.
int occurrences(const std::vector<TokenId>& inner, const std::vector<TokenId>& outer) {
  int count = 0;
  for (auto at = outer.begin();; ++count) {
    at = std::search(at, outer.end(), inner.begin(), inner.end());
    if (at == outer.end()) return count;
    at += static_cast<std::ptrdiff_t>(inner.size());
  }
}

// A term that stands within others is there as often as they are, too.
void add_inner_occurrences(std::vector<Constraint>& constraints) {
  std::vector<int> more(constraints.size(), 0);
  for (std::size_t inner = 0; inner < constraints.size(); ++inner)
    for (std::size_t outer = 0; outer < constraints.size(); ++outer)
      if (inner != outer)
        more[inner] += constraints[outer].least *
                       occurrences(constraints[inner].spellings.front(), constraints[outer].spellings.front());
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    constraints[i].least += more[i];
    constraints[i].most += more[i];
  }
}

}  // namespace

Glossary::Glossary(std::vector<GlossaryTerm> terms) : terms_(std::move(terms)) {
  for (const GlossaryTerm& term : terms_) {
    std::u32string words = with_single_spaces(decode_utf8(term.source));
    const bool is_stem = words.size() > 1 && words.back() == any_ending;
    if (is_stem) words.pop_back();
    by_first_[lower_case(words.front())].push_back(sources_.size());
    sources_.push_back({std::move(words), is_stem});
  }
}

// The end of a term that begins at `begin`, or `begin` if it does not.
std::size_t Glossary::match(const Source& source, std::u32string_view text, std::size_t begin) const {
  std::size_t at = begin;
  for (const char32_t c : source.words) {
    if (at == text.size()) return begin;
    const bool is_same = c == U' ' ? is_white_space(text[at]) : text[at] == c || text[at] == capital_letter(c);
    if (!is_same) return begin;
    ++at;
    while (c == U' ' && at < text.size() && is_white_space(text[at])) ++at;
  }
  const auto is_within_word = [&] { return at < text.size() && is_of_word(text[at - 1]) && is_of_word(text[at]); };
  while (source.is_stem && is_within_word()) ++at;
  return is_within_word() ? begin : at;
}

// The longest term that begins at `begin`, as a whole word; empty: none does.
TermMatch Glossary::longest(std::u32string_view text, std::size_t begin) const {
  TermMatch longest{0, begin, begin};
  const bool is_within_word = begin > 0 && is_of_word(text[begin - 1]) && is_of_word(text[begin]);
  const auto candidates = by_first_.find(lower_case(text[begin]));
  if (is_within_word || candidates == by_first_.end()) return longest;
  for (const std::size_t term : candidates->second) {
    const std::size_t end = match(sources_[term], text, begin);
    const bool is_more_exact = end == longest.end && !sources_[term].is_stem;
    if (end > begin && (end > longest.end || is_more_exact)) longest = {term, begin, end};
  }
  return longest;
}

std::vector<TermMatch> Glossary::find(std::u32string_view text) const {
  std::vector<TermMatch> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const TermMatch match = longest(text, begin);
    if (match.end > begin) found.push_back(match);
    begin = std::max(begin + 1, match.end);
  }
  return found;
}

std::vector<Constraint> Glossary::constraints(const ModelFile& model, const std::string& text,
                                              const std::vector<TokenId>& tokens, std::u32string& targets) const {
  const std::u32string characters = decode_utf8(text);
  const std::u32string_view view = characters;
  std::vector<Constraint> result;
  std::vector<std::string> of_constraints;  // their targets
  for (const auto& [term, begin, end] : find(view)) {
    const std::string target = encode_utf8(with_single_spaces(decode_utf8(terms_[term].target)));
    auto known = std::find(of_constraints.begin(), of_constraints.end(), target);
    if (known == of_constraints.end()) {
      std::vector<std::vector<TokenId>> spelled = spellings(*model.target_tokenizer, target);
      // The tokenizer drops some characters that cannot be seen.
      WASMFORMER_CHECK(!spelled.empty(), ErrorCode::translate,
                       "glossary[" << term << "] has no words in its target for the tokenizer of this model");
      result.push_back({.spellings = std::move(spelled), .most = 0, .is_word = true});
      known = of_constraints.insert(known, target);
      targets += decode_utf8(target);
    }
    Constraint& constraint = result[static_cast<std::size_t>(known - of_constraints.begin())];
    ++constraint.least;
    ++constraint.most;
    const std::size_t before = count_visible(view.substr(0, begin));
    const std::size_t size = count_visible(view.substr(begin, end - begin));
    constraint.places.push_back(tokens_of(*model.source_tokenizer, tokens, before, before + size));
  }
  add_inner_occurrences(result);
  return result;
}

}  // namespace wasmformer
