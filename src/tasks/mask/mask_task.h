// Plain texts: an encoder predicts tokens that were hidden (Devlin et al. 2019, section 3.1).
#pragma once

#include "tasks/batches.h"

namespace wasmformer {

class PlainTexts : public Texts {
 public:
  explicit PlainTexts(std::vector<std::string> lines = {}) : lines(std::move(lines)) {}
  const Task& task() const override;
  std::size_t size() const override { return lines.size(); }
  std::shared_ptr<Texts> select(std::span<const Index> which) const override;
  KnownText known(std::size_t i) const override { return {lines[i], {}, {}, {}, {}}; }
  std::vector<std::vector<std::string>> sides() const override { return {lines}; }
  std::string to_json(std::size_t i) const override;
  void add_json(const JsonObject& text, const Config& config) override;

  std::vector<std::string> lines;
};

// Token ids with the end token.
struct MaskedExamples : EncoderExamples<std::vector<TokenId>> {
  Sides tokens(Index i) const override { return {static_cast<Index>(all[i].size()), 0}; }
  void check(const TrainingConfig& training) const override {
    WASMFORMER_CHECK(training.bpe_dropout == 0, ErrorCode::train,
                     "bpe_dropout is for models that translate, classify or tag");
  }
  std::uint64_t fingerprint() const override;
  std::unique_ptr<TaskBatch> pack(std::span<const Index> which, Transformer& transformer,
                                  const TrainingConfig& training) const override;
  double guessing_loss(const Config& config, const TrainingConfig& training) const override;
  std::vector<Index> target_counts(const Config& config) const override;
};

class MaskedBatch : public TaskBatch {
 public:
  MaskedBatch(Transformer& transformer, const TrainingConfig& training)
      : transformer_(transformer), training_(training) {}

  Index units() const override { return static_cast<Index>(source.size()); }
  void hide(std::uint64_t seed, bool is_training) override;
  void sample_outputs(const OutputSampler& sampler, std::uint64_t seed) override {
    sample_ = std::make_shared<const OutputSample>(sampler.draw(hidden, seed));
  }
  LossTotals totals() const override { return {static_cast<double>(hidden.size())}; }
  std::unique_ptr<TaskBatch> share(int index, int count) const override;
  CrossEntropy loss(Tape& tape, const LossTotals& totals, double label_smoothing) const override;

  std::vector<TokenId> source;  // texts in a row
  Spans source_spans;
  Index first_source = 0;       // rows of the whole batch before a share of it
  std::vector<Index> masked;    // the rows to predict, ascending
  std::vector<TokenId> hidden;  // the tokens that stood there

 private:
  Transformer& transformer_;
  const TrainingConfig& training_;
  std::shared_ptr<const OutputSample> sample_;  // null: the loss scores all pieces
};

const Task& mask_task();

}  // namespace wasmformer
