// A whole training run: texts, tokenizers, model, trainer, and the score of the best model so far. The program and the
// package drive it step by step.
#pragma once

#include "train/budget_plan.h"
#include "train/setup_steps.h"

namespace wasmformer {

// The value with `digits` digits after the decimal point.
std::string fixed(double value, int digits);

class TrainingSession {
 public:
  // Sets the output biases from the training texts if unigram_bias is true, unless `start` is a checkpoint. Throws
  // Error when a text has no usable pair, or the checkpoint was trained on other texts.
  TrainingSession(TrainingStart start, TrainingTexts texts, ThreadPool& pool);
  TrainingSession(const TrainingSession&) = delete;
  TrainingSession& operator=(const TrainingSession&) = delete;

  // Takes one step, and returns its report. Throws Error when the loss or the gradient is not finite, or training has
  // diverged; the weights are then those from before the step, and the run can be saved or changed.
  StepReport step();
  // Validates the current weights. model_file() has the scores in the metadata until the next step().
  Validation validate();

  // Validation, one batch or one decoding step per call; result() once step() has returned false, and once
  // only. The run must take no step() meanwhile.
  class ValidationJob {
   public:
    explicit ValidationJob(TrainingSession& run);
    bool step();
    Validation result();

   private:
    void check_loss() const;

    TrainingSession& run_;
    std::vector<std::vector<Index>> batches_;
    std::size_t batch_ = 0;
    Trainer::LossSum loss_;
    std::unique_ptr<Inference> inference_;
  };

  const Progress& progress() const { return trainer_.progress(); }
  double epochs() const;             // passes over the examples, the current one in part
  double epochs_since_best() const;  // since the best validation
  bool epoch_has_ended() const { return trainer_.progress().batch == 0; }
  Trainer& trainer() { return trainer_; }
  const Task& task() const { return task_; }
  const Examples& examples() const { return *examples_; }
  const Examples& valid_examples() const { return *valid_; }
  const Texts& valid_texts() const { return *valid_texts_; }
  const ModelFile& model() const { return model_; }
  // To translate with until the next step().
  const ModelFile& packed_model();
  // The plan of a run with a budget.
  const std::optional<BudgetPlan>& budget() const { return budget_; }
  void set_budget(std::optional<BudgetPlan> plan) { budget_ = std::move(plan); }
  // Changes settings from the next step on, as Trainer::change.
  void set_training(const TrainingConfig& training);
  // The same for keys of TrainingConfig as JSON. Throws Error for unknown keys and those that a run cannot change.
  void change(const std::string& json);

  using Metadata = std::map<std::string, std::string>;
  Metadata metadata() const;  // metadata of model_file() and checkpoint(), without the texts
  // The bytes of a model file of the present weights, and the same with what step() needs to continue. Keys
  // of metadata that begin with "run." belong to the run, and only checkpoints hold them; `with_texts`: the
  // sentence pairs too, if the run keeps them.
  std::string model_file(const Metadata& more = {}) const;
  std::string checkpoint(const Metadata& more = {}, bool with_texts = true);

 private:
  ModelFile model_;
  Metadata run_metadata_;
  const Task& task_;
  std::unique_ptr<Examples> examples_, valid_;
  std::shared_ptr<const Texts> valid_texts_;  // usable ones
  ThreadPool& pool_;
  Trainer trainer_;
  BestSoFar best_;
  bool is_packed_ = false;
  std::optional<BudgetPlan> budget_;
};

}  // namespace wasmformer
