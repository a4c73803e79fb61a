#include "text/metrics/lengths.h"

#include <algorithm>

#include "schema/error.h"
#include "text/unicode/letters.h"
#include "text/unicode/utf8.h"

namespace wasmformer {

std::size_t word_count(const std::string& line) {
  const std::u32string text = decode_utf8(line);
  std::size_t count = 0;
  for (const Word& word : find_words(text)) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(word.begin);
    const auto characters = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(word.size), is_ideograph);
    count += std::max<std::size_t>(1, static_cast<std::size_t>(characters));
  }
  return count;
}

double length_ratio(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references,
                    const BleuOptions& options) {
  const auto words = [&](const std::vector<std::string>& lines) {
    std::size_t sum = 0;
    for (const std::string& line : lines) sum += bleu_words(line, options);
    return static_cast<double>(sum);
  };
  return words(hypotheses) / std::max(1.0, words(references));
}

std::vector<LengthScore> scores_by_length(const std::vector<std::string>& sources,
                                          const std::vector<std::string>& hypotheses,
                                          const std::vector<std::string>& references, const BleuOptions& options) {
  WASMFORMER_CHECK(sources.size() == hypotheses.size() && sources.size() == references.size() && !sources.empty(),
                   ErrorCode::by_length,
                   sources.size() << " sources, " << hypotheses.size() << " hypotheses and " << references.size()
                                  << " references differ in number, or there are none");
  constexpr std::size_t ends[] = {5, 10, 15, 20, 30, 40, 0};
  std::vector<LengthScore> scores;
  std::size_t from = 1;
  for (const std::size_t to : ends) {
    std::vector<std::string> translations, expected;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::size_t words = std::max<std::size_t>(1, word_count(sources[i]));
      if (words < from || (to != 0 && words > to)) continue;
      translations.push_back(hypotheses[i]);
      expected.push_back(references[i]);
    }
    if (!expected.empty())
      scores.push_back({from, to, expected.size(), bleu(translations, expected, options), chrf(translations, expected),
                        length_ratio(translations, expected, options)});
    from = to + 1;
  }
  return scores;
}

}  // namespace wasmformer
