// Shortlists from sentence pairs or from a lexicon of Marian's tools.
#pragma once

#include <string>
#include <string_view>

#include "schema/options.h"
#include "tasks/translate/corpus.h"
#include "text/shortlist.h"

namespace wasmformer {

struct ShortlistOptions {
  Index first = 50;
  Index best = 50;
  Index iterations = 4;

  // See schema/options.h.
  template <class Visitor>
  void visit(Visitor&& v) {
    v({"first", "how many target pieces, by id from 0, are always candidates", between(1, 1 << 22)}, first);
    v({"best", "how many more candidates each source piece has", between(1, 1 << 16)}, best);
    v({"iterations", "rounds of expectation and maximisation over --data", between(1, 100)}, iterations);
  }
};

// The most probable target pieces of each source piece by IBM's model 1 (Brown et al. 1993). `sources`, `targets`: the
// sizes of the vocabularies.
Shortlist make_shortlist(const Corpus& corpus, Index sources, Index targets, const ShortlistOptions& options);

// The same from lines "target source probability"; those with NULL are ignored, and unknown pieces count as <unk>.
// Throws Error, naming `name`, for another line, and if most pieces are unknown.
Shortlist parse_lexicon(std::string_view text, const std::string& name, const Tokenizer& source,
                        const Tokenizer& target, const ShortlistOptions& options);

}  // namespace wasmformer
