#include "data/corpus.h"

#include "tensor/check.h"
#include "text/utf8.h"

namespace wasmformer {

Corpus tokenize_corpus(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                       const Tokenizer& source_tokenizer, const Tokenizer& target_tokenizer,
                       const Config& config) {
  WASMFORMER_CHECK(sources.size() == targets.size(), "[corpus] " << sources.size() << " source lines but "
                                                                 << targets.size() << " target lines");
  WASMFORMER_CHECK(!sources.empty(), "[corpus] there are no sentence pairs");
  Corpus corpus;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    WASMFORMER_CHECK(is_utf8(sources[i]), "[corpus] source line " << i + 1 << " is not UTF-8");
    WASMFORMER_CHECK(is_utf8(targets[i]), "[corpus] target line " << i + 1 << " is not UTF-8");
    SentencePair pair{source_tokenizer.encode(sources[i]), target_tokenizer.encode(targets[i])};
    const bool empty = pair.source.empty() || pair.target.empty();
    pair.source.push_back(config.eos_id);
    pair.target.push_back(config.eos_id);
    const auto longest = static_cast<Index>(std::max(pair.source.size(), pair.target.size()));
    if (empty || longest > config.max_length) {
      ++corpus.skipped;
    } else {
      corpus.pairs.push_back(std::move(pair));
      corpus.lines.push_back(static_cast<Index>(i));
    }
  }
  WASMFORMER_CHECK(!corpus.pairs.empty(),
                   "[corpus] all " << corpus.skipped << " pairs have an empty side or more than max_length "
                                   << config.max_length << " tokens");
  return corpus;
}

}  // namespace wasmformer
