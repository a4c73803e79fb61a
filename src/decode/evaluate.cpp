#include "decode/evaluate.h"

#include "text/metrics.h"

namespace wasmformer {

Evaluation evaluate(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& sources,
                    const std::vector<std::string>& references, const TranslateOptions& options,
                    Index batch_tokens, const std::function<void(std::size_t)>& done) {
  WASMFORMER_CHECK(sources.size() == references.size(),
                   "[evaluate] " << sources.size() << " sources but " << references.size() << " references");
  Evaluation result;
  for (Translation& t : translate_in_batches(model, pool, sources, options, batch_tokens, done)) {
    result.target_tokens += static_cast<Index>(t.tokens.size());
    result.hypotheses.push_back(std::move(t.text));
  }
  double same = 0;
  for (std::size_t i = 0; i < references.size(); ++i) same += result.hypotheses[i] == references[i];
  result.exact_match = 100 * same / static_cast<double>(references.size());
  result.bleu = bleu(result.hypotheses, references);
  result.chrf = chrf(result.hypotheses, references);
  return result;
}

}  // namespace wasmformer
