// The training loop, one step per call, so that a program or a page stays in control between steps.
#pragma once

#include "model/transformer.h"
#include "tasks/task.h"
#include "train/distributed/gradient_sum.h"
#include "train/optimizer.h"

namespace wasmformer {

// Progress of a run. Together with the weights, the optimizer's moments and the two configs it decides all
// that follows.
struct Progress {
  Index step = 0;        // steps taken
  Index epoch = 0;       // passes over the examples that are complete
  Index batch = 0;       // batches of this epoch that are done
  double loss_sum = 0;   // over the units (TaskBatch::units) since the last report
  Index loss_units = 0;  // the number of these
};

class Trainer {
 public:
  // `transformer` and `examples` must outlive the trainer. The weights must be set.
  Trainer(Transformer& transformer, const Examples& examples, const TrainingConfig& config, ThreadPool& pool);

  // Trains together with others, which must have the same weights and examples and take the same steps: the batches of
  // an update are shared out, or if there are fewer than ranks, the sentences of each. `ranks` must outlive the
  // trainer.
  void join(Communicator& ranks);

  // Forward and backward over the next batches, TrainingConfig::accumulate of them unless the epoch ends, then one
  // update. Throws Error when the loss or the gradient is not finite, or the loss is far above the loss of guessing;
  // all is then as before the step, in every rank. If only one rank throws, abort the others: they are blocked on it.
  StepReport step();

  // The sum of the loss over units, without dropout and smoothing.
  struct LossSum {
    double sum = 0;
    Index units = 0;
  };
  LossSum validation_loss(const Examples& examples, std::span<const Index> which);

  const Progress& progress() const { return progress_; }
  // The mean training loss since the last call.
  double take_mean_loss();
  Index batches_per_epoch() const { return static_cast<Index>(batches_.size()); }
  const TrainingConfig& config() const { return config_; }
  const Examples& examples() const { return examples_; }
  // From the next step on. Throws Error when a key differs that a run cannot change: those that decide the
  // order of the data and the optimizer's moments.
  void change(const TrainingConfig& config);
  Transformer& transformer() { return transformer_; }
  Optimizer& optimizer() { return optimizer_; }
  // Continues from there; the moments must be set through optimizer().
  void resume(const Progress& progress);

 private:
  struct Part {
    std::unique_ptr<TaskBatch> batch;
    std::uint64_t seed;
  };
  StepReport take_step();
  // This rank's part of the batches of the next step, and what all ranks have together.
  std::vector<Part> next_parts(LossTotals& totals, Index& units) const;
  // Adds the gradients of all ranks; returns the loss.
  double add_gradients(const std::vector<Part>& parts, const LossTotals& totals);
  void plan_epoch();

  Transformer& transformer_;
  const Examples& examples_;
  TrainingConfig config_;
  ThreadPool& pool_;
  Tape tape_;
  Optimizer optimizer_;
  Progress progress_;
  Communicator alone_, *ranks_ = &alone_;
  std::optional<GradientSum> gradients_;     // sum over several batches, or over ranks
  std::optional<OutputSampler> sampler_;     // with output_sample
  double highest_loss_ = 0;                  // a higher one means divergence; 0: not known yet
  std::vector<std::vector<Index>> batches_;  // batches of this epoch
};

}  // namespace wasmformer
