// Scores by the length of the source, because small models fail on long sentences.
#pragma once

#include "text/metrics/bleu_and_chrf.h"

namespace wasmformer {

// Words and numbers; every Chinese character counts as a word.
std::size_t word_count(const std::string& text);

// Words of the hypotheses by words of the references, as BLEU cuts them; 1 is ideal.
double length_ratio(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references,
                    const BleuOptions& options = {});

struct LengthScore {
  std::size_t from = 0, to = 0;  // words of the source; the last group has no end, to 0
  std::size_t sentences = 0;
  double bleu = 0, chrf = 0, length_ratio = 0;
};
// Scores by words of the source: 1 to 5, 6 to 10, 11 to 15, 16 to 20, 21 to 30, 31 to 40 and more; groups without a
// sentence are left out. Throws Error if the lists differ in length or are empty.
std::vector<LengthScore> scores_by_length(const std::vector<std::string>& sources,
                                          const std::vector<std::string>& hypotheses,
                                          const std::vector<std::string>& references, const BleuOptions& options = {});

}  // namespace wasmformer
