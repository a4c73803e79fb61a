// Corpus scores as sacreBLEU computes them.
#pragma once

#include <string>
#include <vector>

namespace wasmformer {

// BLEU (Papineni et al. 2002): 13a tokenisation, exp smoothing, one reference a line; 0 to 100. `lowercase`:
// of texts in small letters (Latin, Greek and Cyrillic ones). Throws Error when the two lists differ in size
// or are empty.
double bleu(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references,
            bool lowercase = false);
inline const char* bleu_signature(bool lowercase = false) {
  return lowercase ? "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp"
                   : "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp";
}

// chrF2 (Popović 2015): character 6-grams, no word n-grams, beta 2, whitespace ignored; 0 to 100.
double chrf(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references);

}  // namespace wasmformer
