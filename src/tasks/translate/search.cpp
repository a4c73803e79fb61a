#include "tasks/translate/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "tensor/vector_math.h"

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
                     "a prefix cannot go on after token " << id << ", which ends a sentence");
  }
}

// With a slot for each hypothesis of the inputs, which are checked first: a cache may be large.
Cache make_cache(const std::vector<SearchInput>& inputs, Index beam_size, const Config& c) {
  Index length = 1;
  for (const SearchInput& input : inputs) {
    check_input(input, c);
    length = std::max(length, input.max_length);
  }
  return Cache(c.decoder_layers, static_cast<Index>(inputs.size()) * beam_size, length, c.d_model,
               c.decoder_self == DecoderSelf::ssru);
}

using Row = Eigen::Ref<RowVector>;

// The column of a token among the scores.
TokenId column(const std::vector<TokenId>& scored, TokenId id) {
  if (scored.empty()) return id;
  return static_cast<TokenId>(std::lower_bound(scored.begin(), scored.end(), id) - scored.begin());
}

// By probability; the smaller id where equal.
constexpr auto better = [](const Choice& a, const Choice& b) {
  return a.second > b.second || (a.second == b.second && a.first < b.first);
};

// The tokens of the highest scores, best first; nearly all blocks of a row hold none.
void best_scores(const Row& row, std::span<Choice> best) {
  constexpr Index block = 64;
  const Index n = row.size(), k = static_cast<Index>(best.size());
  for (Index id = 0; id < k; ++id)
    best[static_cast<std::size_t>(id)] = {static_cast<TokenId>(id), static_cast<float>(row(id))};
  std::make_heap(best.begin(), best.end(), better);  // its front is the worst kept
  for (Index begin = k; begin < n; begin += block) {
    const Index end = std::min(begin + block, n);
    if (end - begin == block && static_cast<float>(row.segment<block>(begin).maxCoeff()) <= best[0].second) continue;
    for (Index id = begin; id < end; ++id) {
      const Choice entry(static_cast<TokenId>(id), static_cast<float>(row(id)));
      if (entry.second <= best[0].second) continue;
      std::pop_heap(best.begin(), best.end(), better);
      best.back() = entry;
      std::push_heap(best.begin(), best.end(), better);
    }
  }
  std::sort_heap(best.begin(), best.end(), better);
}

// Fills `best`, at least one, as most_probable(). Returns what makes log-probabilities of scores: log Σ exp.
Scalar most_probable(Row row, std::span<Choice> best, const Config& config) {
  const Scalar pad = row(config.pad_id);
  row(config.pad_id) = row(config.bos_id) = -std::numeric_limits<Scalar>::infinity();
  best_scores(row, best);
  const Scalar max = static_cast<Scalar>(best[0].second);
  Scalar log_sum = max + std::log(simd::exponentials<false>(row.data(), row.size(), max));
  // Models of Marian itself (begin token after the vocabulary) never choose <unk>, our pad, but the sum includes it.
  if (config.begins_after_vocabulary())
    log_sum = std::max(log_sum, pad) + std::log1p(std::exp(-std::abs(log_sum - pad)));
  WASMFORMER_CHECK(std::isfinite(log_sum), ErrorCode::search, "the model gives scores that are not numbers");
  for (Choice& choice : best) choice.second = static_cast<float>(static_cast<Scalar>(choice.second) - log_sum);
  return log_sum;
}

}  // namespace

std::vector<Choice> most_probable(Row row, Index k, const Config& config) {
  std::vector<Choice> best(static_cast<std::size_t>(std::clamp<Index>(k, 0, row.size())));
  if (!best.empty()) most_probable(row, best, config);
  return best;
}

Search::Search(Transformer& transformer, ThreadPool& pool, std::vector<SearchInput> inputs,
               const TranslateOptions& options)
    : transformer_(transformer),
      options_(checked(options, transformer.config())),
      tape_(pool, /*recording=*/false),
      cache_(make_cache(inputs, options_.beam_size, transformer.config())) {
  const Config& c = transformer.config();
  const std::size_t beam = static_cast<std::size_t>(options_.beam_size);
  std::size_t nodes = 0;
  Index at = 0;
  for (SearchInput& input : inputs) {
    const Index source = static_cast<Index>(input.source.size());
    source_spans_.push_back({at, source});
    at += source;
    // A step adds at most beam_size that go on and beam_size that end, or what trace() says.
    const std::size_t step = (options_.beam_trace ? 3 : 2) * beam, prefix = input.prefix.size();
    nodes += 1 + prefix + step * (static_cast<std::size_t>(input.max_length) - prefix);
    const std::uint64_t seed = options_.sampling ? mix(options_.sampling->seed) + input.number : 1;
    sentences_.push_back({std::move(input), c, {}, {}, 0, false, Random(seed)});
    sentences_.back().ended.reserve(beam + 1);
    if (!sentences_.back().input.candidates.empty()) choose_output(sentences_.back());
  }
  const std::vector<std::vector<Index>> masked(sentences_.size(), options_.masked_source);
  masks_ = Masks(c, options_.masked_heads, source_spans_, masked);
  nodes_.reserve(nodes);
  for (std::size_t i = 0; i < sentences_.size(); ++i)
    live_.push_back({add({-1, c.bos_id, 0, Fate::kept, 0}), static_cast<std::int32_t>(i)});
  cache_.lengths.assign(live_.size(), 0);
}

void Search::choose_output(Sentence& sentence) const {
  const Config& c = transformer_.config();
  std::vector<TokenId>& scored = sentence.input.candidates;
  std::vector<TokenId> others = sentence.input.prefix;
  others.insert(others.end(), {c.pad_id, c.bos_id, c.eos_id});
  for (const TokenId id : others) {
    const auto at = std::lower_bound(scored.begin(), scored.end(), id);
    if (at == scored.end() || *at != id) scored.insert(at, id);
  }
  sentence.output = std::make_unique<Transformer::OutputRows>(transformer_.output_rows(scored));
  Config& columns = sentence.columns;
  columns.pad_id = column(scored, c.pad_id), columns.bos_id = column(scored, c.bos_id);
  columns.target_vocab_size = static_cast<Index>(scored.size());
}

Eigen::Map<RowVector> Search::scores(std::size_t row, const Sentence& sentence) const {
  return {scores_[row], sentence.columns.target_vocab_size};
}

std::int32_t Search::add(const Node& node) {
  nodes_.push_back(node);
  return static_cast<std::int32_t>(nodes_.size() - 1);
}

double Search::score(double sum, Index length) const {
  return sum /
         std::pow((5 + static_cast<double>(length)) / 6, options_.length_penalty.value_or(default_length_penalty));
}

void Search::end(Sentence& sentence, std::int32_t node, Index length) {
  auto& ended = sentence.ended;
  const Ended entry{node, score(nodes_[node].sum, length)};
  nodes_[node].fate = Fate::ended;
  ended.insert(std::upper_bound(ended.begin(), ended.end(), entry,
                                [](const Ended& a, const Ended& b) { return a.score > b.score; }),
               entry);
  if (static_cast<Index>(ended.size()) <= options_.beam_size) return;
  nodes_[ended.back().node].fate = Fate::outscored;
  ended.pop_back();
}

// Fills scores_: one row per token read; spans_ says which rows each live hypothesis has. The first call also reads
// sources and prefixes.
void Search::forward() {
  tape_.clear();
  ids_.clear(), spans_.clear(), memory_spans_.clear();
  for (const Live& h : live_) {
    const Index begin = static_cast<Index>(ids_.size());
    ids_.push_back(nodes_[h.node].id);
    if (!started_) {
      const auto& prefix = sentences_[h.sentence].input.prefix;
      ids_.insert(ids_.end(), prefix.begin(), prefix.end());
    }
    spans_.push_back({begin, static_cast<Index>(ids_.size()) - begin});
    memory_spans_.push_back(masks_.source_spans[h.sentence]);
  }
  Var memory;
  if (!started_) {
    std::vector<TokenId> sources;
    for (const Sentence& s : sentences_) sources.insert(sources.end(), s.input.source.begin(), s.input.source.end());
    memory = transformer_.encode(tape_, sources, source_spans_, masks_);
  }
  const Var hidden = transformer_.decode(tape_, ids_, spans_, memory, memory_spans_, &cache_, masks_);
  scores_.clear();
  const auto keep = [&](Var logits) {
    for (Index i = 0; i < logits.rows(); ++i) scores_.push_back(logits.mutable_value().row(i).data());
  };
  if (sentences_[live_[0].sentence].input.candidates.empty()) {
    keep(transformer_.logits(tape_, hidden));
  } else {
    for (std::size_t first = 0, last = 0; first < live_.size(); first = last) {
      Sentence& s = sentences_[live_[first].sentence];
      while (last < live_.size() && live_[last].sentence == live_[first].sentence) ++last;
      const Index begin = spans_[first].begin;
      keep(transformer_.logits(tape_, hidden, {begin, spans_[last - 1].end() - begin}, *s.output));
    }
  }
  if (started_) return;

  started_ = true;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    Sentence& s = sentences_[live_[i].sentence];
    for (TokenId id : s.input.prefix) {
      Row row = scores(static_cast<std::size_t>(spans_[i].begin + s.length++), s);
      Choice best;
      const Scalar log_sum = most_probable(row, {&best, 1}, s.columns);
      const float log_probability = static_cast<float>(row(column(s.input.candidates, id)) - log_sum);
      const std::int32_t parent = live_[i].node;
      live_[i].node = add({parent, id, log_probability, Fate::kept, nodes_[parent].sum + log_probability});
    }
  }
}

// `weights`: room for as many as `choices`.
Choice Search::sample(std::span<const Choice> choices, double* weights, Random& random) const {
  const Sampling& o = *options_.sampling;
  double total = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) total += weights[i] = std::exp(choices[i].second / o.temperature);
  double kept = 0;
  std::size_t n = 0;  // the nucleus
  while (n < choices.size() && (n == 0 || kept < o.top_p * total)) kept += weights[n++];

  double point = random.uniform() * kept;
  std::size_t chosen = 0;
  while (chosen + 1 < n && point >= weights[chosen]) point -= weights[chosen++];
  return choices[chosen];
}

bool Search::step() {
  if (live_.empty()) return false;
  forward();
  const Index rows = living();
  Index cols = 0;
  for (const Live& h : live_) cols = std::max(cols, sentences_[h.sentence].columns.target_vocab_size);
  // Twice the beam is enough to go on with even if the whole beam ends.
  Index k = 2 * options_.beam_size;
  if (options_.sampling) k = options_.sampling->top_k > 0 ? options_.sampling->top_k : cols;
  k = std::min(k, cols);
  const auto count = [&](const Sentence& s) { return std::min(k, s.columns.target_vocab_size); };
  Choice* choices = tape_.scratch<Choice>(rows * k);
  double* weights = tape_.scratch<double>(options_.sampling ? rows * k : 0);
  tape_.for_rows(rows, cols, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Sentence& s = sentences_[live_[i].sentence];
      const std::span<Choice> best(choices + i * k, static_cast<std::size_t>(count(s)));
      most_probable(scores(static_cast<std::size_t>(spans_[i].end() - 1), s), best, s.columns);
      if (!s.input.candidates.empty())
        for (Choice& choice : best) choice.first = s.input.candidates[choice.first];
      if (options_.sampling) best[0] = sample(best, weights + i * k, s.random);
    }
  });

  next_.clear(), parents_.clear();
  for (std::size_t first = 0, last = 0; first < live_.size(); first = last) {
    Sentence& sentence = sentences_[live_[first].sentence];
    if (nodes_[live_[first].node].id == transformer_.config().eos_id) {  // the prefix ended the sentence
      end(sentence, live_[first].node, sentence.length);
      sentence.done = true;
      ++last;
      continue;
    }
    candidates_.clear();
    for (; last < live_.size() && live_[last].sentence == live_[first].sentence; ++last) {
      const double sum = nodes_[live_[last].node].sum;
      const Index parent = static_cast<Index>(last);
      for (Index j = 0; j < (options_.sampling ? 1 : count(sentence)); ++j) {
        const auto& [id, log_probability] = choices[parent * k + j];
        candidates_.push_back({parent, id, log_probability, sum + log_probability});
      }
    }
    extend(sentence, live_[first].sentence);
  }
  cache_.select(parents_);
  live_.swap(next_);
  return !live_.empty();
}

// Takes the best candidates, which are all of one sentence.
void Search::extend(Sentence& sentence, std::int32_t place) {
  const TokenId eos = transformer_.config().eos_id;
  const std::size_t beam = static_cast<std::size_t>(options_.beam_size), before = next_.size();
  const std::size_t count = std::min(candidates_.size(), 2 * beam);
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count), candidates_.end(),
                    [](const Candidate& a, const Candidate& b) {
                      return std::tuple(-a.sum, a.parent, a.id) < std::tuple(-b.sum, b.parent, b.id);
                    });
  ++sentence.length;
  for (std::size_t rank = 0; rank < count; ++rank) {
    const Candidate& c = candidates_[rank];
    if (c.sum == -std::numeric_limits<double>::infinity()) continue;  // fewer tokens than the beam is wide
    const bool taken = c.id == eos ? rank < beam : next_.size() - before < beam;
    if (!taken && !options_.beam_trace) continue;
    const std::int32_t node =
        add({live_[c.parent].node, c.id, c.log_probability, taken ? Fate::kept : Fate::crowded_out, c.sum});
    if (!taken) continue;
    if (c.id == eos) {
      end(sentence, node, sentence.length);
    } else {
      next_.push_back({node, place});
      parents_.push_back(c.parent);
    }
  }

  if (options_.beam_trace) trace_unseen(count);

  const bool none = next_.size() == before, enough = sentence.ended.size() >= beam;
  sentence.done =
      none || (enough && score(nodes_[next_[before].node].sum, sentence.length) <= sentence.ended.front().score);
  if (sentence.length == sentence.input.max_length && !sentence.done) {
    for (std::size_t i = before; i < next_.size(); ++i) end(sentence, next_[i].node, sentence.length);
    sentence.done = true;
  }
  if (!sentence.done) return;
  for (std::size_t i = before; i < next_.size(); ++i)
    if (Fate& fate = nodes_[next_[i].node].fate; fate == Fate::kept) fate = Fate::too_late;
  next_.resize(before);
  parents_.resize(before);
}

// Adds the best candidate of each hypothesis that has none among the first `considered`.
void Search::trace_unseen(std::size_t considered) {
  const auto rest = candidates_.begin() + static_cast<std::ptrdiff_t>(considered);
  std::sort(rest, candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.parent, -a.sum, a.id) < std::tuple(b.parent, -b.sum, b.id);
  });
  for (auto c = rest; c != candidates_.end();) {
    const auto same = [parent = c->parent](const Candidate& other) { return other.parent == parent; };
    if (std::none_of(candidates_.begin(), rest, same))
      add({live_[c->parent].node, c->id, c->log_probability, Fate::crowded_out, c->sum});
    c = std::find_if_not(c, candidates_.end(), same);
  }
}

FoundHypothesis Search::found(std::int32_t node, double score) const {
  FoundHypothesis result;
  result.sum = nodes_[node].sum;
  result.score = score;
  for (; nodes_[node].parent >= 0; node = nodes_[node].parent) {
    result.ids.push_back(nodes_[node].id);
    result.log_probabilities.push_back(nodes_[node].log_probability);
  }
  std::reverse(result.ids.begin(), result.ids.end());
  std::reverse(result.log_probabilities.begin(), result.log_probabilities.end());
  return result;
}

std::vector<TracedToken> Search::trace(Index i) const {
  std::vector<TracedToken> result;
  std::vector<std::int32_t> places(nodes_.size(), -1);
  places[static_cast<std::size_t>(i)] = 0;  // roots are the first nodes
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    const std::int32_t parent = node.parent >= 0 ? places[node.parent] : -1;
    if (node.parent < 0 ? places[n] < 0 : parent < 0) continue;
    places[n] = static_cast<std::int32_t>(result.size());
    const Index length = parent < 0 ? 0 : result[parent].length + 1;
    result.push_back({parent, node.id, node.log_probability, node.sum, score(node.sum, length), length, node.fate,
                      /*hypothesis=*/-1});
  }
  Index hypothesis = 0;
  for (const Ended& ended : sentences_[i].ended) result[places[ended.node]].hypothesis = hypothesis++;
  return result;
}

std::vector<FoundHypothesis> Search::hypotheses(Index i) const {
  const Sentence& sentence = sentences_[i];
  std::vector<FoundHypothesis> result;
  for (const Ended& ended : sentence.ended)
    if (sentence.done) result.push_back(found(ended.node, ended.score));
  if (sentence.done) return result;
  const auto best = std::find_if(live_.begin(), live_.end(), [i](const Live& h) { return h.sentence == i; });
  return {found(best->node, score(nodes_[best->node].sum, sentence.length))};
}

}  // namespace wasmformer
