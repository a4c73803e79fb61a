// A whole training run: texts, tokenizers, model, trainer, and how good the best model so far is. The program
// and the package drive it step by step.
#pragma once

#include "decode/evaluate.h"
#include "train/checkpoint.h"

namespace wasmformer {

struct TrainingTexts {
  ParallelText train, valid;
};

// With so many digits after the point.
std::string fixed(double value, int digits);

// Takes sizes of vocabularies and the special ids from the tokenizers. Throws Error when they have no common
// end token.
void take_vocabulary(Config& config, const Tokenizer& source, const Tokenizer& target);

struct Validation {
  double loss = 0;    // Trainer::validation_loss
  Evaluation greedy;  // of greedy translations
  bool is_best = false;
};

class TrainingRun {
 public:
  // `checkpoint`: the bytes of the checkpoint that `model` was parsed from, to go on from there; empty for a
  // fresh run. Throws Error when a text has no usable pair.
  TrainingRun(ModelFile model, const TrainingConfig& training, TrainingTexts texts, ThreadPool& pool,
              std::string_view checkpoint = {});
  TrainingRun(const TrainingRun&) = delete;
  TrainingRun& operator=(const TrainingRun&) = delete;

  StepReport step() { return trainer_.step(); }
  // Of the present weights. The best so far leaves its figures in the metadata of model_file().
  Validation validate();

  const Progress& progress() const { return trainer_.progress(); }
  double epochs() const;  // passes over the corpus, with the part of the present one
  bool epoch_has_ended() const { return trainer_.progress().batch == 0; }
  Trainer& trainer() { return trainer_; }
  const Corpus& corpus() const { return corpus_; }
  const Corpus& valid_corpus() const { return valid_; }
  const ModelFile& model() const { return model_; }

  // The bytes of a model file of the present weights, and the same with what step() needs to go on.
  std::string model_file() const { return serialize_model(model_, Precision::f32); }
  std::string checkpoint() { return serialize_checkpoint(model_, trainer_, best_); }

 private:
  ModelFile model_;
  ParallelText valid_text_;
  Corpus corpus_, valid_;
  ThreadPool& pool_;
  Trainer trainer_;
  BestSoFar best_;
};

}  // namespace wasmformer
