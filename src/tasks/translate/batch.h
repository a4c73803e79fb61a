// Token-budget batches of packed sentences: no padding anywhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/batches.h"
#include "tasks/translate/corpus.h"

namespace wasmformer {

struct Batch {
  std::vector<TokenId> source;      // sentences one after the other
  std::vector<TokenId> target_in;   // begin token, then the target without its end token
  std::vector<TokenId> target_out;  // the target
  Spans source_spans, target_spans;
  Index first_source = 0, first_target = 0;  // rows of the whole batch before a share of it
};

// Packs these pairs, in this order; every sentence keeps all of its tokens.
Batch pack(const Corpus& corpus, std::span<const Index> pairs, TokenId bos_id);
// Share `index` of `count` with about equally many tokens: consecutive sentences, or none if there are fewer sentences
// than shares.
Batch share(const Batch& batch, int index, int count);

}  // namespace wasmformer
