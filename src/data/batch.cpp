#include "data/batch.h"

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
