// Token-budget batches of packed sentences: no padding anywhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"

namespace wasmformer {

struct Batch {
  std::vector<TokenId> source;      // sentences one after the other
  std::vector<TokenId> target_in;   // begin token, then the target without its end token
  std::vector<TokenId> target_out;  // the target
  Spans source_spans, target_spans;
};

Batch pack(const Corpus& corpus, std::span<const Index> pairs, TokenId bos_id);

// The pairs of every batch of an epoch, in order: shuffled by (seed, epoch), then cut so that neither side of
// a batch has more than `batch_tokens` tokens (a longer pair stands alone). `seed` 0 keeps the corpus' order.
std::vector<std::vector<Index>> plan_batches(const Corpus& corpus, Index batch_tokens, std::uint64_t seed,
                                             Index epoch);

}  // namespace wasmformer
