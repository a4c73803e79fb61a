// Texts in, texts out: tokenizes, searches, and puts words together again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/translation.h"
#include "io/model_file.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

struct TranslateOptions {
  Index beam_size = 4;          // 1 is greedy
  double length_penalty = 0.6;  // alpha of ((5 + n) / 6)^alpha, Wu et al. 2016, as the paper's section 6.1
  Index n_best = 1;             // at most beam_size
  Index max_length = 0;         // target tokens; 0: source tokens + 50, as in the paper
  std::optional<Sampling> sampling;         // instead of a search; beam_size is then 1
  std::string prefix;                       // forced start of the target: a text,
  std::vector<TokenId> prefix_ids;          // and tokens after it; the end token, last, ends the target
  std::vector<Index> masked_source;         // tokens of each source that no attention looks at, from 0
  std::vector<AttentionHead> masked_heads;  // heads whose output is 0
  bool attention = false;
  Index top_tokens = 0;     // candidates kept for each step
  bool beam_trace = false;  // what the search kept and dropped; not with sampling
  bool internals = false;
};

// The translation of a batch of texts, one decoding step a call, so that a caller can show what there is and
// stop between steps. `model` and `pool` must outlive it.
class TranslationJob {
 public:
  // Throws Error for impossible options, text that is not UTF-8, a sentence longer than the model's
  // max_length, or one without a token that is to be masked.
  TranslationJob(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts,
                 const TranslateOptions& options);

  // Takes one step for every unfinished sentence; false when none is left.
  bool step();
  // The best text so far, an entry a sentence.
  std::vector<std::string> partial() const;
  // One translation a text, in order. Valid once step() has returned false.
  std::vector<Translation> result() const;

 private:
  Hypothesis hypothesis(const FoundHypothesis& found) const;
  std::vector<BeamNode> beam(Index i, Index returned) const;

  const ModelFile& model_;
  ThreadPool& pool_;
  TranslateOptions options_;
  std::vector<std::vector<TokenId>> sources_;  // with the end token; only that for an empty text
  std::vector<Index> searched_;                // the texts that are not empty
  std::optional<Search> search_;
};

class Translator {
 public:
  using Job = TranslationJob;

  // `model_file`: the bytes of a model file (io/model_file.h). Throws Error as that does. The pool must
  // outlive the translator.
  Translator(std::string_view model_file, ThreadPool& pool);

  // All texts are one batch. Throws Error as TranslationJob does.
  std::vector<Translation> translate(const std::vector<std::string>& texts,
                                     const TranslateOptions& options) const;
  // The job must not outlive the translator.
  Job start(const std::vector<std::string>& texts, const TranslateOptions& options) const;

  const ModelFile& model() const { return model_; }

 private:
  ModelFile model_;
  ThreadPool& pool_;
};

// Any number of texts, in batches of at most `batch_tokens` source tokens (a longer text stands alone), texts
// of like length together; a decoding step a call.
class BatchedTranslation {
 public:
  // `model` and `pool` must outlive it. Throws Error as TranslationJob does.
  BatchedTranslation(const ModelFile& model, ThreadPool& pool, std::vector<std::string> texts,
                     const TranslateOptions& options, Index batch_tokens);

  // False when all is translated.
  bool step();
  std::size_t done() const { return first_; }  // texts
  // One translation a text, in order. Valid once step() has returned false; then they are gone.
  std::vector<Translation> take() { return std::move(translations_); }

 private:
  const ModelFile& model_;
  ThreadPool& pool_;
  std::vector<std::string> texts_;
  TranslateOptions options_;
  std::size_t batch_tokens_;
  std::vector<std::size_t> lengths_, order_;
  std::size_t first_ = 0, last_ = 0;  // of order_: the present batch
  std::optional<TranslationJob> job_;
  std::vector<Translation> translations_;
};

// All of it at once. `done(n)` is called after each batch with the number of texts that are done.
std::vector<Translation> translate_in_batches(const ModelFile& model, ThreadPool& pool,
                                              const std::vector<std::string>& texts,
                                              const TranslateOptions& options, Index batch_tokens,
                                              const std::function<void(std::size_t)>& done = {});

}  // namespace wasmformer
