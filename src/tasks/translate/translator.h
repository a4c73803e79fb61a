// Texts in, texts out: tokenizes, searches, and joins the pieces to text.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "bundle/model_file.h"
#include "tasks/translate/source.h"
#include "tasks/translate/translation.h"
#include "tensor/thread_pool.h"

namespace wasmformer {

// The alpha of the options, or else of the model's metadata, or else the default. Throws Error if it needs the
// model's and that is not a number of at least 0.
double length_penalty(const ModelFile& model, const TranslateOptions& options);

// The translation of a batch of texts, one decoding step per call, so that a caller can show what there is so
// far and stop between steps. `model` and `pool` must outlive it.
class TranslationJob {
 public:
  // `first`: index of texts[0] in the whole input. Throws Error for impossible options, text that is not
  // UTF-8, a sentence longer than the model's max_length, or one without a token that is to be masked.
  TranslationJob(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts,
                 const TranslateOptions& options, std::uint64_t first = 0);
  TranslationJob(const ModelFile& model, ThreadPool& pool, std::vector<Source> sources,
                 const TranslateOptions& options);

  // Takes one step for every unfinished sentence; false when all have ended.
  bool step() { return search_.step(); }
  // The best text so far, one entry per sentence.
  std::vector<std::string> partial() const;
  // One translation per text, in order. Valid once step() has returned false.
  std::vector<Translation> result() const;

 private:
  void name(SourceToken& token, TokenId id) const;
  Hypothesis hypothesis(const SearchHypothesis& tokens) const;
  std::vector<BeamNode> beam(Index i, Index returned) const;
  std::vector<std::vector<std::size_t>> places(const std::vector<std::vector<SearchHypothesis>>& returned,
                                               std::size_t rank) const;
  void write_texts(const std::vector<std::vector<SearchHypothesis>>& returned,
                   std::vector<Translation>& translations) const;

  const ModelFile& model_;
  ThreadPool& pool_;
  std::vector<Source> sources_;
  std::vector<Index> searched_;  // the texts that are not empty
  Search search_;
};

// Several threads may use one LoadedModel at once; with a pool of more than one thread they share its workers.
class LoadedModel {
 public:
  using Job = TranslationJob;

  // `model_file`: the bytes of a model file (bundle/model_file.h). Throws Error as that does. The pool must
  // outlive the translator.
  LoadedModel(std::string_view model_file, ThreadPool& pool);

  // As translate_in_batches() below.
  std::vector<Translation> translate(const std::vector<std::string>& texts, const TranslateOptions& options = {}) const;
  // The tokens that translate() would read of each text, the end token last; a text may have any length. Of the
  // options only `keep` and `kept_ranges` matter. Throws Error for text that is not UTF-8.
  std::vector<std::vector<SourceToken>> tokenize(const std::vector<std::string>& texts,
                                                 const TranslateOptions& options = {}) const;
  // The job must not outlive the translator. `first` as in TranslationJob.
  Job start(const std::vector<std::string>& texts, const TranslateOptions& options, std::uint64_t first = 0) const;

  const ModelFile& model() const { return model_; }

 private:
  ModelFile model_;
  ThreadPool& pool_;
};

// Any number of texts, in batches of at most `batch_tokens` source tokens (a longer text stands alone), texts
// of similar length together. The threads of the pool share out the texts of a batch.
// The loops of a step are split only for a single text with a large model: on busy cores, threads that split shorter
// loops wait for each other longer than they save. The results do not depend on the number of threads.
class BatchedTranslation {
 public:
  struct TooLong {
    std::size_t text, tokens;
  };

  // `model` and `pool` must outlive it. `first` and errors as in TranslationJob, but a sentence longer than
  // the model's max_length gets an empty translation.
  BatchedTranslation(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts,
                     const TranslateOptions& options, Index batch_tokens, std::uint64_t first = 0);

  // Takes one decoding step for each thread's texts. step_for lets each thread take further steps until `time` is
  // over, as waiting for each other after every token costs much of what threads save. False when everything is
  // translated.
  bool step() { return step_for({}); }
  bool step_for(std::chrono::milliseconds time);
  std::size_t done() const { return first_; }  // texts
  const std::vector<TooLong>& too_long() const { return too_long_; }
  // Throws Error, naming the first sentence and its length, if one is too long; `first` texts come before these.
  void refuse_too_long(std::size_t first = 0) const;
  // The best text so far, one entry per text; "" for those that have not begun.
  std::vector<std::string> partial() const;
  // One translation per text, in order, moved out. Valid once step() has returned false.
  std::vector<Translation> take() { return std::move(translations_); }

 private:
  void begin_batch();

  const ModelFile& model_;
  ThreadPool& pool_;
  ThreadPool alone_;  // a single thread
  TranslateOptions options_;
  std::size_t batch_tokens_;
  std::vector<Source> sources_;
  std::vector<TooLong> too_long_;
  std::vector<std::size_t> order_;    // order of the others
  std::size_t first_ = 0, last_ = 0;  // range of order_: the present batch
  std::deque<TranslationJob> jobs_;   // job i of n has texts i, i + n, ... of the batch
  std::vector<Translation> translations_;
};

// Steps `job` to its end. `done(n)` is called after each batch with the number of texts that are done.
template <class Job>
void finish(Job& job, const std::function<void(std::size_t)>& done) {
  std::size_t before = 0;
  for (bool goes_on = true; goes_on;) {
    goes_on = job.step_for(std::chrono::seconds(1));
    if (done && job.done() > before) done(before = job.done());
  }
}

// All of a BatchedTranslation at once. Throws Error as TranslationJob does.
std::vector<Translation> translate_in_batches(const ModelFile& model, ThreadPool& pool,
                                              const std::vector<std::string>& texts, const TranslateOptions& options,
                                              Index batch_tokens = 2048,
                                              const std::function<void(std::size_t)>& done = {});

}  // namespace wasmformer
