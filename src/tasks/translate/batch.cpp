#include "tasks/translate/batch.h"

namespace wasmformer {

Batch pack(const Corpus& corpus, std::span<const Index> pairs, TokenId bos_id) {
  Batch batch;
  for (Index i : pairs) {
    const auto& [source, target] = corpus.pairs[i];
    batch.source_spans.push_back({static_cast<Index>(batch.source.size()), static_cast<Index>(source.size())});
    batch.source.insert(batch.source.end(), source.begin(), source.end());
    batch.target_spans.push_back({static_cast<Index>(batch.target_out.size()), static_cast<Index>(target.size())});
    batch.target_in.push_back(bos_id);
    batch.target_in.insert(batch.target_in.end(), target.begin(), target.end() - 1);
    batch.target_out.insert(batch.target_out.end(), target.begin(), target.end());
  }
  return batch;
}

Batch share(const Batch& batch, int index, int count) {
  const std::size_t sentences = batch.source_spans.size();
  const auto tokens_before = [&](std::size_t i) {
    if (i == sentences) return static_cast<Index>(batch.source.size() + batch.target_out.size());
    return batch.source_spans[i].begin + batch.target_spans[i].begin;
  };
  const std::size_t begin = first_of_share(sentences, index, count, tokens_before);
  const std::size_t end = first_of_share(sentences, index + 1, count, tokens_before);
  Batch part;
  const Span source = take(batch.source_spans, begin, end, part.source_spans);
  const Span target = take(batch.target_spans, begin, end, part.target_spans);
  take(batch.source, source, part.source);
  take(batch.target_in, target, part.target_in);
  take(batch.target_out, target, part.target_out);
  part.first_source = source.begin;
  part.first_target = target.begin;
  return part;
}

}  // namespace wasmformer
