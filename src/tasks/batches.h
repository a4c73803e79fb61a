// Token-budget batches: which examples go together.
#pragma once

#include "tasks/task.h"

namespace wasmformer {

// The examples of an encoder, in a list.
template <class Example>
class EncoderExamples : public Examples {
 public:
  Index size() const override { return static_cast<Index>(all.size()); }
  std::vector<Example> all;
};

// The examples of each batch, in the order of the texts, cut so that neither side of a batch has more than
// `batch_tokens` tokens; a longer example has a batch of its own.
std::vector<std::vector<Index>> plan_batches(const Examples& examples, Index batch_tokens);
// The same for one epoch of training, shuffled by seed and epoch.
std::vector<std::vector<Index>> plan_shuffled_batches(const Examples& examples, Index batch_tokens, std::uint64_t seed,
                                                      Index epoch);

// FNV-1a, begun with fnv_offset.
inline constexpr std::uint64_t fnv_offset = 0xcbf29ce484222325;
std::uint64_t add_to_hash(std::uint64_t hash, const std::vector<TokenId>& ids);

// Moves the spans from `begin` to `end` to the start, and returns the rows they cover.
Span take(const Spans& from, std::size_t begin, std::size_t end, Spans& to);
template <class T>
void take(const std::vector<T>& from, Span rows, std::vector<T>& to) {
  to.assign(from.begin() + rows.begin, from.begin() + rows.end());
}
// The sentence at which share `index` of `count` begins, if `tokens_before(i)` tokens stand before sentence i.
template <class Count>
std::size_t first_of_share(std::size_t sentences, int index, int count, Count tokens_before) {
  std::size_t i = 0;
  while (i < sentences && tokens_before(i) * count < tokens_before(sentences) * index) ++i;
  return i;
}

}  // namespace wasmformer
