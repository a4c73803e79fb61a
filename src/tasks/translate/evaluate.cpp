#include "tasks/translate/evaluate.h"

namespace wasmformer {

BleuTokenizer evaluation_tokenizer(const ModelFile& model) {
  const auto languages = model.metadata.find("languages");
  return default_bleu_tokenizer(languages == model.metadata.end() ? "" : languages->second);
}

const std::string& nearest(const Translation& translation, const std::string& reference, const BleuOptions& options) {
  const Hypothesis* found = &translation;
  if (reference.empty()) return found->text;
  double best = sentence_bleu(found->text, reference, options);
  for (const Hypothesis& h : translation.alternatives) {
    const double score = sentence_bleu(h.text, reference, options);
    if (score <= best) continue;
    best = score;
    found = &h;
  }
  return found->text;
}

EvaluationJob::EvaluationJob(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& sources,
                             std::vector<std::string> references, const TranslateOptions& options, Index batch_tokens,
                             const std::optional<BleuOptions>& bleu)
    : references_(std::move(references)),
      bleu_(bleu ? *bleu : BleuOptions{.tokenizer = evaluation_tokenizer(model)}),
      translation_(model, pool, sources, options, batch_tokens) {
  WASMFORMER_CHECK(!sources.empty(), ErrorCode::evaluate, "there are no sentences to compare");
  WASMFORMER_CHECK(sources.size() == references_.size(), ErrorCode::evaluate,
                   sources.size() << " sources but " << references_.size() << " references");
  translation_.refuse_too_long();
}

Evaluation EvaluationJob::result() {
  Evaluation result;
  double same = 0;
  for (Translation& t : translation_.take()) {
    same += t.text == references_[result.hypotheses.size()];
    result.target_tokens += static_cast<Index>(t.tokens.size());
    result.hypotheses.push_back(std::move(t.text));
  }
  result.exact_match = 100 * same / static_cast<double>(references_.size());
  result.bleu = bleu(result.hypotheses, references_, bleu_);
  result.chrf = chrf(result.hypotheses, references_);
  return result;
}

Evaluation evaluate(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& sources,
                    const std::vector<std::string>& references, const TranslateOptions& options, Index batch_tokens,
                    const std::function<void(std::size_t)>& done) {
  EvaluationJob job(model, pool, sources, references, options, batch_tokens);
  finish(job, done);
  return job.result();
}

}  // namespace wasmformer
