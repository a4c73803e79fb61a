// Training on sentence pairs.
#pragma once

#include "tasks/translate/batch.h"
#include "tasks/translate/corpus.h"

namespace wasmformer {

class PairTexts : public Texts {
 public:
  // Throws Error when the sides differ in length.
  explicit PairTexts(ParallelText pairs = {});
  const Task& task() const override;
  std::size_t size() const override { return pairs.sources.size(); }
  std::shared_ptr<Texts> select(std::span<const Index> which) const override;
  KnownText known(std::size_t i) const override { return {pairs.sources[i], pairs.targets[i], {}, {}, {}}; }
  std::vector<std::vector<std::string>> sides() const override { return {pairs.sources, pairs.targets}; }
  std::string to_json(std::size_t i) const override;
  void add_json(const JsonObject& text, const Config& config) override;

  ParallelText pairs;
};

// A batch of sentence pairs: predicts each target token from the source and the target tokens before it (section 3.1 of
// Vaswani et al. 2017).
class PairBatch : public TaskBatch {
 public:
  PairBatch(Batch batch, Transformer& transformer) : batch_(std::move(batch)), transformer_(transformer) {}

  Index units() const override { return static_cast<Index>(batch_.target_out.size()); }
  void sample_outputs(const OutputSampler& sampler, std::uint64_t seed) override;
  LossTotals totals() const override { return {static_cast<double>(batch_.target_out.size())}; }
  std::unique_ptr<TaskBatch> share(int index, int count) const override;
  CrossEntropy loss(Tape& tape, const LossTotals& totals, double label_smoothing) const override;

 protected:
  Batch batch_;
  Transformer& transformer_;

 private:
  std::shared_ptr<const OutputSample> sample_;  // null: the loss scores all pieces
};

const Task& translate_task();
// The pairs as texts to train on.
std::shared_ptr<Texts> texts_of(ParallelText pairs);
// The pairs of such texts. Throws Error, with this reason, if they are others.
const ParallelText& pairs_of(const Texts& texts, const char* reason);

}  // namespace wasmformer
