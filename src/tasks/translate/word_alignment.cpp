#include "tasks/translate/word_alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>

#include "schema/error.h"

namespace wasmformer {
namespace {

// Possible translations of a source piece; after sort(), each target piece once, ascending.
struct List {
  std::vector<TokenId> ids;
  std::vector<float> probabilities, counts;
  std::size_t unique = 0;  // of the ids

  void add(TokenId id) {
    ids.push_back(id);
    constexpr std::size_t least = 256;
    if (ids.size() > 2 * unique + least) sort();
  }
  void sort() {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    unique = ids.size();
  }
  std::size_t place(TokenId id) const {
    return static_cast<std::size_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  }
};

Shortlist best_of(const std::vector<List>& lists, std::size_t sources, Index targets, const ShortlistOptions& options) {
  Shortlist shortlist;
  shortlist.first = std::min(options.first, targets);
  shortlist.offsets.push_back(0);
  std::vector<std::pair<float, TokenId>> order;
  for (std::size_t s = 0; s < sources; ++s) {
    order.clear();
    for (std::size_t i = 0; i < lists[s].ids.size(); ++i)
      if (lists[s].probabilities[i] > 0) order.emplace_back(lists[s].probabilities[i], lists[s].ids[i]);
    std::sort(order.begin(), order.end(), std::greater<>());
    order.resize(std::min(order.size(), static_cast<std::size_t>(options.best)));
    const auto begin = static_cast<std::ptrdiff_t>(shortlist.ids.size());
    for (const auto& [probability, id] : order) shortlist.ids.push_back(id);
    std::sort(shortlist.ids.begin() + begin, shortlist.ids.end());
    shortlist.offsets.push_back(static_cast<std::int32_t>(shortlist.ids.size()));
  }
  return shortlist;
}

// Without the end token.
std::span<const TokenId> words_of(const std::vector<TokenId>& side) { return {side.data(), side.size() - 1}; }

// Divides one target word among the source words that it may come from (the E step of IBM Model 1).
class ExpectedCounts {
 public:
  void add(std::vector<List>& lists, const std::vector<TokenId>& side, TokenId target) {
    counts_.clear();
    shares_.clear();
    float sum = 0;
    for (const TokenId s : side) {
      List& list = lists[static_cast<std::size_t>(s)];
      const std::size_t place = list.place(target);
      counts_.push_back(&list.counts[place]);
      sum += shares_.emplace_back(list.probabilities[place]);
    }
    if (!(sum > 0)) return;
    for (std::size_t j = 0; j < counts_.size(); ++j) *counts_[j] += shares_[j] / sum;
  }

 private:
  std::vector<float*> counts_;  // of one call; kept for their memory
  std::vector<float> shares_;
};

// Makes the counts probabilities (the M step).
void normalize(List& list) {
  double sum = 0;
  for (const float count : list.counts) sum += count;
  for (std::size_t j = 0; j < list.ids.size(); ++j)
    list.probabilities[j] = sum > 0 ? static_cast<float>(list.counts[j] / sum) : 0.0f;
}

}  // namespace

Shortlist make_shortlist(const Corpus& corpus, Index sources, Index targets, const ShortlistOptions& options) {
  std::vector<List> lists(static_cast<std::size_t>(sources) + 1);  // the last: of no source piece
  const auto each_pair = [&](const auto& body) {
    std::vector<TokenId> side;
    for (const SentencePair& pair : corpus.pairs) {
      const auto words = words_of(pair.source);
      side.assign(words.begin(), words.end());
      side.push_back(static_cast<TokenId>(sources));
      for (const TokenId t : words_of(pair.target)) body(side, t);
    }
  };
  each_pair([&](const std::vector<TokenId>& side, TokenId t) {
    for (const TokenId s : side) lists[static_cast<std::size_t>(s)].add(t);
  });
  for (List& list : lists) {
    list.sort();
    list.probabilities.assign(list.ids.size(), 1);
  }
  ExpectedCounts expected;
  for (Index i = 0; i < options.iterations; ++i) {
    for (List& list : lists) list.counts.assign(list.ids.size(), 0);
    each_pair([&](const std::vector<TokenId>& side, TokenId t) { expected.add(lists, side, t); });
    for (List& list : lists) normalize(list);
  }
  return best_of(lists, static_cast<std::size_t>(sources), targets, options);
}

namespace {

struct LexiconEntry {
  std::string target, source;
  double probability;
};

// None unless the line has three fields and the last is a probability, or a count.
std::optional<LexiconEntry> parse_entry(std::string_view line) {
  constexpr std::string_view spaces = " \t\r";
  std::vector<std::string> fields;
  for (std::size_t begin = line.find_first_not_of(spaces); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(spaces, begin), line.size());
    fields.emplace_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(spaces, end);
  }
  if (fields.size() != 3) return std::nullopt;
  char* end = nullptr;
  const double probability = std::strtod(fields[2].c_str(), &end);
  if (*end != '\0' || !(probability >= 0) || !std::isfinite(probability)) return std::nullopt;
  return LexiconEntry{.target = fields[0], .source = fields[1], .probability = probability};
}

}  // namespace

Shortlist parse_lexicon(std::string_view text, const std::string& name, const Tokenizer& source,
                        const Tokenizer& target, const ShortlistOptions& options) {
  const auto source_ids = source.ids(), target_ids = target.ids();
  std::vector<std::map<TokenId, float>> found(static_cast<std::size_t>(source.vocab_size()));
  std::size_t pieces = 0, unknown = 0;
  for_each_line(text, name, [&](std::string_view line, std::size_t number) {
    if (line.empty()) return;
    const auto entry = parse_entry(line);
    WASMFORMER_CHECK(entry, ErrorCode::shortlist,
                     "line " << number << " of " << name << " is not 'target source probability'");
    const auto& [to, from, probability] = *entry;
    if (to == "NULL" || from == "NULL") return;
    const auto id = [&](const auto& ids, const std::string& piece, TokenId other) {
      const auto known = ids.find(piece);
      ++pieces;
      unknown += known == ids.end();
      return known == ids.end() ? other : known->second;
    };
    const TokenId s = id(source_ids, from, source.unk_id()), t = id(target_ids, to, target.unk_id());
    if (s < 0 || t < 0) return;
    float& most = found[static_cast<std::size_t>(s)][t];
    most = std::max(most, static_cast<float>(probability));
  });
  WASMFORMER_CHECK(pieces > 0, ErrorCode::shortlist, name << " has no pairs of pieces");
  WASMFORMER_CHECK(2 * unknown <= pieces, ErrorCode::shortlist,
                   "the model does not know " << unknown << " of the " << pieces << " pieces in " << name
                                              << ", which is for another vocabulary");
  std::vector<List> lists(found.size());
  for (std::size_t s = 0; s < found.size(); ++s) {
    for (const auto& [id, probability] : found[s]) {
      lists[s].ids.push_back(id);
      lists[s].probabilities.push_back(probability);
    }
  }
  return best_of(lists, lists.size(), target.vocab_size(), options);
}

}  // namespace wasmformer
