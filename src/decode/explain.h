// Looks again at what a search found.
#pragma once

#include "decode/translation.h"
#include "decode/translator.h"

namespace wasmformer {

// The hypotheses that a search found, best first, of its sentence i.
struct Explained {
  const std::vector<TokenId>* source;         // with the end token
  const std::vector<FoundHypothesis>* found;  // those that are returned
  Translation* translation;                   // has as many hypotheses
};

// Adds attention, candidates and internals, as far as `options` ask for them. One pass over the finished
// hypotheses gives all of them; cached steps equal it. `masks`: those of the search, of these sentences.
void explain(const ModelFile& model, ThreadPool& pool, const TranslateOptions& options, const Masks& masks,
             const std::vector<Explained>& sentences);

}  // namespace wasmformer
