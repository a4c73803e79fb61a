// Token-budget batches of packed sentences: no padding anywhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/translate/corpus.h"

namespace wasmformer {

struct Batch {
  std::vector<TokenId> source;      // sentences in a row
  std::vector<TokenId> target_in;   // begin token, then the target without its end token
  std::vector<TokenId> target_out;  // the target
  Spans source_spans, target_spans;
  Index first_source = 0, first_target = 0;  // rows of the whole batch before a share of it
  // Of an encoder's examples, instead of a target:
  std::vector<TokenId> classes, tags;
  Spans class_spans;          // of `classes`, one per sentence
  std::vector<Index> tagged;  // the rows of `source` that `tags` belong to, ascending
};

Batch pack(const Corpus& corpus, std::span<const Index> pairs, TokenId bos_id);
// Share `index` of `count` with about equally many tokens: consecutive sentences, or none if there are fewer sentences
// than shares.
Batch share(const Batch& batch, int index, int count);

// The pairs of each batch, in the order of the corpus, cut so that neither side of a batch has more than
// `batch_tokens` tokens; a longer pair has a batch of its own.
std::vector<std::vector<Index>> plan_batches(const Corpus& corpus, Index batch_tokens);
// The same for one epoch of training, shuffled by seed and epoch.
std::vector<std::vector<Index>> plan_shuffled_batches(const Corpus& corpus, Index batch_tokens, std::uint64_t seed,
                                                      Index epoch);

}  // namespace wasmformer
