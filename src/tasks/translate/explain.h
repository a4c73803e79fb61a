// Runs the model once more over what a search found, to keep what it computed on the way.
#pragma once

#include "bundle/model_file.h"
#include "tasks/translate/translation.h"

namespace wasmformer {

// A sentence whose finished hypotheses the decoder reads again, each token given (forced decoding).
struct ForcedDecoding {
  const std::vector<TokenId>* source;               // with the end token
  const std::vector<SearchHypothesis>* hypotheses;  // those that are returned, best first
  Translation* translation;                         // has as many hypotheses, and gets what is asked for
};

// Adds the attention, candidates and internals that `options` ask for, from one pass over the finished
// hypotheses, which gives the numbers of the cached steps. `masks`: those of the search, whose sentence i is
// sentences[i].
void explain(const ModelFile& model, ThreadPool& pool, const TranslateOptions& options, const Masks& masks,
             const std::vector<ForcedDecoding>& sentences);

// Sentence i of every layer as one block, with a column for each of `keys`; if some are masked, `seen` lists the rows
// of the others, and the columns of the masked ones are 0.
AttentionMaps attention_maps(const std::vector<AttentionRecord>& layers, std::size_t i, Index heads, Span keys,
                             std::span<const std::int32_t> seen = {});

}  // namespace wasmformer
