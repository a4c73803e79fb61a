// Removes the edges of a text (kept_parts.h) before it is translated.
#pragma once

#include "bundle/model_file.h"
#include "tasks/translate/kept_parts.h"

namespace wasmformer {

// The languages of a model, such as de and en; empty where the metadata names none.
struct LanguagePair {
  std::string source, target;
};
LanguagePair languages_of(const ModelFile& model);

// The rest of a text, in code points, and the spans inside.
struct Middle {
  std::size_t begin = 0, end = 0;
  std::vector<KeptText::InnerSpan> spans;
};
// Moves kept spans, brackets and quotes from both ends of `kept.source` to its lead and tail. A span that the sentence
// needs, such as an address without a colon next to it, stays inside.
Middle cut_edges(KeptText& kept, const std::vector<KeptSpan>& spans, const KeepNames& names,
                 const LanguagePair& languages);

}  // namespace wasmformer
