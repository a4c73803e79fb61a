#include "tasks/translate/batch.h"

#include <algorithm>
#include <numeric>

#include "tensor/random.h"

namespace wasmformer {

Batch pack(const Corpus& corpus, std::span<const Index> pairs, TokenId bos_id) {
  Batch batch;
  for (Index i : pairs) {
    const auto& [source, target, words, classes] = corpus.pairs[i];
    const auto begin = static_cast<Index>(batch.source.size());
    batch.class_spans.push_back({static_cast<Index>(batch.classes.size()), static_cast<Index>(classes.size())});
    batch.classes.insert(batch.classes.end(), classes.begin(), classes.end());
    for (Index word : words) batch.tagged.push_back(begin + word);
    if (!words.empty()) batch.tags.insert(batch.tags.end(), target.begin(), target.end());
    batch.source_spans.push_back({begin, static_cast<Index>(source.size())});
    batch.source.insert(batch.source.end(), source.begin(), source.end());
    if (!words.empty() || target.empty()) continue;
    batch.target_spans.push_back({static_cast<Index>(batch.target_out.size()), static_cast<Index>(target.size())});
    batch.target_in.push_back(bos_id);
    batch.target_in.insert(batch.target_in.end(), target.begin(), target.end() - 1);
    batch.target_out.insert(batch.target_out.end(), target.begin(), target.end());
  }
  return batch;
}

namespace {

// Moves the spans from `begin` to `end` to the start, and returns the rows they cover.
Span take(const Spans& from, std::size_t begin, std::size_t end, Spans& to) {
  if (from.empty() || begin == end) return {0, 0};
  const Index first = from[begin].begin;
  for (std::size_t i = begin; i < end; ++i) to.push_back({from[i].begin - first, from[i].size});
  return {first, from[end - 1].end() - first};
}

template <class T>
void take(const std::vector<T>& from, Span rows, std::vector<T>& to) {
  to.assign(from.begin() + rows.begin, from.begin() + rows.end());
}

// The sentence at which share `index` begins.
std::size_t first_of_share(const Batch& batch, int index, int count) {
  const std::size_t sentences = batch.source_spans.size();
  const auto tokens = [&](std::size_t i) {
    if (i == sentences) return static_cast<Index>(batch.source.size() + batch.target_out.size());
    return batch.source_spans[i].begin + (batch.target_spans.empty() ? 0 : batch.target_spans[i].begin);
  };
  std::size_t i = 0;
  while (i < sentences && tokens(i) * count < tokens(sentences) * index) ++i;
  return i;
}

}  // namespace

Batch share(const Batch& batch, int index, int count) {
  const std::size_t begin = first_of_share(batch, index, count), end = first_of_share(batch, index + 1, count);
  Batch part;
  const Span source = take(batch.source_spans, begin, end, part.source_spans);
  const Span target = take(batch.target_spans, begin, end, part.target_spans);
  const Span classes = take(batch.class_spans, begin, end, part.class_spans);
  take(batch.source, source, part.source);
  take(batch.target_in, target, part.target_in);
  take(batch.target_out, target, part.target_out);
  take(batch.classes, classes, part.classes);
  part.first_source = source.begin, part.first_target = target.begin;
  for (std::size_t i = 0; i < batch.tagged.size(); ++i) {
    if (batch.tagged[i] < source.begin || batch.tagged[i] >= source.end()) continue;
    part.tagged.push_back(batch.tagged[i] - source.begin);
    part.tags.push_back(batch.tags[i]);
  }
  return part;
}

namespace {

std::vector<Index> corpus_order(const Corpus& corpus) {
  std::vector<Index> order(corpus.pairs.size());
  std::iota(order.begin(), order.end(), Index(0));
  return order;
}

std::vector<std::vector<Index>> cut(const Corpus& corpus, Index batch_tokens, const std::vector<Index>& order) {
  std::vector<std::vector<Index>> batches;
  Index sources = 0, targets = 0;
  for (Index i : order) {
    const Index source = static_cast<Index>(corpus.pairs[i].source.size());
    const Index target = static_cast<Index>(corpus.pairs[i].target.size());
    if (batches.empty() || std::max(sources + source, targets + target) > batch_tokens) {
      batches.emplace_back();
      sources = targets = 0;
    }
    batches.back().push_back(i);
    sources += source;
    targets += target;
  }
  return batches;
}

}  // namespace

std::vector<std::vector<Index>> plan_batches(const Corpus& corpus, Index batch_tokens) {
  return cut(corpus, batch_tokens, corpus_order(corpus));
}

std::vector<std::vector<Index>> plan_shuffled_batches(const Corpus& corpus, Index batch_tokens, std::uint64_t seed,
                                                      Index epoch) {
  std::vector<Index> order = corpus_order(corpus);
  Random(mix(seed) + static_cast<std::uint64_t>(epoch)).shuffle(order);
  return cut(corpus, batch_tokens, order);
}

}  // namespace wasmformer
