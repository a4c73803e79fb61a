// What training minimizes: the mean loss over batches, of which a call may get only a part.
#pragma once

#include "model/transformer.h"
#include "ops/cross_entropy.h"
#include "tasks/translate/batch.h"

namespace wasmformer {

// What the means are taken over: sums of weights.
struct LossTotals {
  double targets = 0;  // tokens of a decoder
  double classes = 0;
  double tags = 0;  // words with a tag, or masked tokens
};

class TrainingLoss {
 public:
  TrainingLoss(const Transformer& transformer, const Corpus& corpus, const TrainingConfig& config);

  // Hides tokens from an encoder, some to predict where it is trained on masks. `training` off: no word dropout.
  void hide(Batch& batch, const TrainingConfig& config, std::uint64_t seed, bool training) const;
  void add_to(LossTotals& totals, const Batch& batch) const;
  // False for a share without sentences, or without masked tokens.
  bool has_targets(const Batch& batch) const;
  // How many tokens, or an encoder's texts, a report counts.
  Index units(const Batch& batch) const;
  // This batch's share of the mean over `totals`. The batch must have targets, and the tape must be seeded.
  CrossEntropy operator()(Tape& tape, const Batch& batch, const TrainingConfig& config, const LossTotals& totals,
                          double label_smoothing) const;
  // The mean loss of an untrained model.
  double of_guessing(const TrainingConfig& config) const;

 private:
  const Transformer& transformer_;
  std::vector<double> class_weights_;  // empty: 1 each
};

}  // namespace wasmformer
