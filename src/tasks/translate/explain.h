// Runs the model once more over the results of a search, to record its intermediate values.
#pragma once

#include "bundle/model_file.h"
#include "tasks/translate/translation.h"

namespace wasmformer {

// A sentence whose finished hypotheses the decoder reads again, each token given (forced decoding).
struct ForcedDecoding {
  const std::vector<TokenId>* source;               // with the end token
  const std::vector<SearchHypothesis>* hypotheses;  // returned ones, best first
  Translation* translation;                         // has as many hypotheses, and gets what is asked for
};

// Adds the attention, candidates and internals that `options` ask for, in one uncached pass over the finished
// hypotheses that reproduces the cached steps exactly. `masks`: masks of the search, whose sentence i is sentences[i].
void explain(const ModelFile& model, ThreadPool& pool, const TranslateOptions& options, const Masks& masks,
             const std::vector<ForcedDecoding>& sentences);

// Sentence i of every layer as one block, with a column for each of `keys`; if some are masked, `seen` lists the rows
// of the others, and the columns of the masked ones are 0.
AttentionMaps attention_maps(const std::vector<AttentionRecord>& layers, std::size_t i, Index heads, Span keys,
                             std::span<const std::int32_t> seen = {});

}  // namespace wasmformer
