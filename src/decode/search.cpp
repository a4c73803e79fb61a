#include "decode/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wasmformer {
namespace {

constexpr Scalar minus_infinity = -std::numeric_limits<Scalar>::infinity();

Index longest(const std::vector<SearchInput>& inputs) {
  Index length = 1;
  for (const SearchInput& input : inputs) length = std::max(length, input.max_length);
  return length;
}

using Row = Eigen::Ref<RowVector>;

// Turns scores into log-probabilities over the tokens that may be chosen.
void log_softmax(Row row, const Config& config) {
  row(config.pad_id) = row(config.bos_id) = minus_infinity;
  const Scalar max = row.maxCoeff(), log_sum = max + std::log((row.array() - max).exp().sum());
  WASMFORMER_CHECK(std::isfinite(log_sum), "[search] the model gives scores that are not numbers");
  row.array() -= log_sum;
}

// By probability; the smaller id where equal.
constexpr auto better = [](const auto& a, const auto& b) {
  return a.second > b.second || (a.second == b.second && a.first < b.first);
};

}  // namespace

std::vector<std::pair<TokenId, float>> most_probable(Row row, Index k, const Config& config) {
  log_softmax(row, config);
  const std::size_t wanted = static_cast<std::size_t>(std::min(k, row.size()));
  std::vector<std::pair<TokenId, float>> best;  // a heap whose front is the worst kept
  for (TokenId id = 0; id < row.size(); ++id) {
    const std::pair<TokenId, float> entry(id, static_cast<float>(row(id)));
    if (best.size() == wanted) {
      if (!better(entry, best.front())) continue;
      std::pop_heap(best.begin(), best.end(), better);
      best.pop_back();
    }
    best.push_back(entry);
    std::push_heap(best.begin(), best.end(), better);
  }
  std::sort(best.begin(), best.end(), better);
  return best;
}

Search::Search(Transformer& transformer, ThreadPool& pool, std::vector<SearchInput> inputs,
               const SearchOptions& options)
    : transformer_(transformer),
      options_(options),
      tape_(pool, /*recording=*/false),
      cache_(transformer.config().decoder_layers, static_cast<Index>(inputs.size()) * options.beam_size,
             longest(inputs), transformer.config().d_model) {
  const Config& c = transformer.config();
  WASMFORMER_CHECK(options.beam_size >= 1, "[search] beam_size " << options.beam_size << " is below 1");
  WASMFORMER_CHECK(!options.sampling || options.beam_size == 1,
                   "[search] sampling goes with beam_size 1, not " << options.beam_size);
  Index at = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    SearchInput& input = inputs[i];
    const Index source = static_cast<Index>(input.source.size()),
                prefix = static_cast<Index>(input.prefix.size());
    WASMFORMER_CHECK(source >= 1 && source <= c.max_length, "[search] a sentence has "
                                                                << source << " tokens; the model takes 1 to "
                                                                << c.max_length);
    WASMFORMER_CHECK(input.max_length >= 1 && input.max_length <= c.max_length,
                     "[search] max_length " << input.max_length << " is not in 1 to " << c.max_length
                                            << ", the model's own");
    WASMFORMER_CHECK(prefix < input.max_length, "[search] a prefix of "
                                                    << prefix << " tokens leaves no room below max_length "
                                                    << input.max_length);
    source_spans_.push_back({at, source});
    at += source;
    Hypothesis start;
    start.sentence = static_cast<Index>(i);
    live_.push_back(std::move(start));
    sentences_.push_back(
        {std::move(input), {}, false, Random(options.sampling ? mix(options.sampling->seed) + i : 1)});
  }
  cache_.lengths.assign(live_.size(), 0);
}

double Search::score(double sum, std::size_t length) const {
  return sum / std::pow((5 + static_cast<double>(length)) / 6, options_.length_penalty);
}

void Search::end(Sentence& sentence, FoundHypothesis hypothesis) {
  hypothesis.score = score(hypothesis.sum, hypothesis.ids.size());
  auto& ended = sentence.ended;
  const auto place = std::upper_bound(ended.begin(), ended.end(), hypothesis,
                                      [](const auto& a, const auto& b) { return a.score > b.score; });
  ended.insert(place, std::move(hypothesis));
}

// Scores of the next token, a row for each live hypothesis. The first call also reads sources and prefixes.
Var Search::forward() {
  const Config& c = transformer_.config();
  tape_.clear();
  std::vector<TokenId> ids;
  Spans spans, memory_spans;
  for (const Hypothesis& h : live_) {
    const Index begin = static_cast<Index>(ids.size());
    ids.push_back(h.ids.empty() ? c.bos_id : h.ids.back());
    if (!started_) {
      const auto& prefix = sentences_[h.sentence].input.prefix;
      ids.insert(ids.end(), prefix.begin(), prefix.end());
    }
    spans.push_back({begin, static_cast<Index>(ids.size()) - begin});
    memory_spans.push_back(source_spans_[h.sentence]);
  }
  Var memory;
  if (!started_) {
    std::vector<TokenId> sources;
    for (const Sentence& s : sentences_)
      sources.insert(sources.end(), s.input.source.begin(), s.input.source.end());
    memory = transformer_.encode(tape_, sources, source_spans_);
  }
  Var logits =
      transformer_.logits(tape_, transformer_.decode(tape_, ids, spans, memory, memory_spans, &cache_));
  if (started_) return logits;

  // Score the prefixes, and keep the row after each.
  started_ = true;
  Var next = tape_.variable(static_cast<Index>(live_.size()), logits.cols(), false);
  for (std::size_t i = 0; i < live_.size(); ++i) {
    Hypothesis& h = live_[i];
    for (TokenId id : sentences_[h.sentence].input.prefix) {
      auto row = logits.mutable_value().row(spans[i].begin + static_cast<Index>(h.ids.size()));
      log_softmax(row, c);
      h.log_probabilities.push_back(static_cast<float>(row(id)));
      h.sum += h.log_probabilities.back();
      h.ids.push_back(id);
    }
    next.mutable_value().row(static_cast<Index>(i)) = logits.value().row(spans[i].end() - 1);
  }
  return next;
}

std::pair<TokenId, float> Search::sample(Row row, Random& random) const {
  const Sampling& o = *options_.sampling;
  const Index k = o.top_k > 0 ? o.top_k : row.size();
  const auto choices = most_probable(row, k, transformer_.config());
  std::vector<double> weights;
  double total = 0;
  for (const auto& choice : choices) total += weights.emplace_back(std::exp(choice.second / o.temperature));
  double kept = 0;
  std::size_t n = 0;  // the nucleus
  while (n < weights.size() && (n == 0 || kept < o.top_p * total)) kept += weights[n++];

  double point = random.uniform() * kept;
  std::size_t chosen = 0;
  while (chosen + 1 < n && point >= weights[chosen]) point -= weights[chosen++];
  return choices[chosen];
}

bool Search::step() {
  if (live_.empty()) return false;
  View logits = forward().mutable_value();
  std::vector<std::vector<Candidate>> found(live_.size());
  tape_.for_rows(logits.rows(), logits.cols(), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Hypothesis& h = live_[i];
      std::vector<std::pair<TokenId, float>> tokens;
      // Twice the beam is enough to go on with even if the whole beam ends.
      if (options_.sampling)
        tokens = {sample(logits.row(i), sentences_[h.sentence].random)};
      else
        tokens = most_probable(logits.row(i), 2 * options_.beam_size, transformer_.config());
      for (const auto& [id, log_probability] : tokens)
        found[i].push_back({i, id, log_probability, h.sum + log_probability});
    }
  });

  const TokenId eos = transformer_.config().eos_id;
  std::vector<Hypothesis> next;
  std::vector<Index> parents;
  for (std::size_t first = 0, last; first < live_.size(); first = last) {  // the hypotheses of one sentence
    Sentence& sentence = sentences_[live_[first].sentence];
    std::vector<Candidate> all;
    for (last = first; last < live_.size() && live_[last].sentence == live_[first].sentence; ++last)
      all.insert(all.end(), found[last].begin(), found[last].end());
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.sum > b.sum; });
    if (static_cast<Index>(all.size()) > 2 * options_.beam_size) all.resize(2 * options_.beam_size);

    std::vector<Hypothesis> going_on;
    std::vector<Index> going_on_parents;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const Candidate& c = all[rank];
      const bool within_beam = static_cast<Index>(rank) < options_.beam_size;
      if (c.id == eos ? !within_beam : static_cast<Index>(going_on.size()) == options_.beam_size) continue;
      if (c.sum == -std::numeric_limits<double>::infinity()) continue;  // fewer tokens than the beam is wide
      Hypothesis h = live_[c.parent];
      h.ids.push_back(c.id);
      h.log_probabilities.push_back(c.log_probability);
      h.sum = c.sum;
      if (c.id == eos) {
        end(sentence, std::move(h));
      } else {
        going_on.push_back(std::move(h));
        going_on_parents.push_back(c.parent);
      }
    }

    const std::size_t length = live_[first].ids.size() + 1;
    const bool enough = static_cast<Index>(sentence.ended.size()) >= options_.beam_size;
    sentence.done =
        going_on.empty() || (enough && score(going_on.front().sum, length) <= sentence.ended.front().score);
    if (static_cast<Index>(length) == sentence.input.max_length && !sentence.done) {
      for (Hypothesis& h : going_on) end(sentence, std::move(h));
      sentence.done = true;
    }
    if (sentence.done) continue;
    std::move(going_on.begin(), going_on.end(), std::back_inserter(next));
    parents.insert(parents.end(), going_on_parents.begin(), going_on_parents.end());
  }
  cache_.select(parents);
  live_ = std::move(next);
  return !live_.empty();
}

std::vector<FoundHypothesis> Search::hypotheses(Index i) const {
  if (!sentences_[i].done) {
    const auto best =
        std::find_if(live_.begin(), live_.end(), [i](const auto& h) { return h.sentence == i; });
    FoundHypothesis result = *best;
    result.score = score(result.sum, result.ids.size());
    return {result};
  }
  std::vector<FoundHypothesis> result = sentences_[i].ended;
  if (static_cast<Index>(result.size()) > options_.beam_size) result.resize(options_.beam_size);
  return result;
}

}  // namespace wasmformer
