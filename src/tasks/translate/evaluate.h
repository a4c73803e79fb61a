// Scores of a model on sentences with known translations.
#pragma once

#include "tasks/translate/translator.h"
#include "text/metrics/bleu_and_chrf.h"

namespace wasmformer {

// The tokenizer of the target language in the model's `languages`.
BleuTokenizer evaluation_tokenizer(const ModelFile& model);

struct Evaluation {
  double bleu = 0, chrf = 0;  // text/metrics/bleu_and_chrf.h
  double exact_match = 0;     // percent of the hypotheses that equal their references
  std::vector<std::string> hypotheses;
  Index target_tokens = 0;  // tokens of the hypotheses, end tokens included
};

// The text of the hypothesis with the highest sentence BLEU against the reference (ties go to the better score), or of
// the one with the best score if there is no reference. Students learn this text (Kim and Rush 2016, section 3.3).
const std::string& nearest(const Translation& translation, const std::string& reference, const BleuOptions& options);

// One decoding step per call.
class EvaluationJob {
 public:
  // `model` and `pool` must outlive it; `bleu` by default uses evaluation_tokenizer(). Throws Error when the
  // lists differ in length or are empty, or a sentence is too long for the model.
  EvaluationJob(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& sources,
                std::vector<std::string> references, const TranslateOptions& options, Index batch_tokens = 2048,
                const std::optional<BleuOptions>& bleu = {});

  // False when all is translated.
  bool step() { return translation_.step(); }
  bool step_for(std::chrono::milliseconds time) { return translation_.step_for(time); }
  std::size_t done() const { return translation_.done(); }  // sentences
  // Valid once step() has returned false; to be called once.
  Evaluation result();

 private:
  std::vector<std::string> references_;
  BleuOptions bleu_;
  BatchedTranslation translation_;
};

// All of it at once. `done(n)` is called after each batch with the number of sentences that are done.
Evaluation evaluate(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& sources,
                    const std::vector<std::string>& references, const TranslateOptions& options,
                    Index batch_tokens = 2048, const std::function<void(std::size_t)>& done = {});

}  // namespace wasmformer
