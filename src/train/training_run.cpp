#include "train/training_run.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tasks/batches.h"
#include "train/unigram_bias.h"

namespace wasmformer {
namespace {

bool is_of_run(const std::pair<const std::string, std::string>& entry) { return entry.first.starts_with("run."); }

}  // namespace

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

TrainingSession::TrainingSession(TrainingStart start, TrainingTexts texts, ThreadPool& pool)
    : model_(std::move(start.model)),
      task_(texts.train->task()),
      examples_(task_.examples(*texts.train, model_, start.training)),
      valid_(task_.examples(*texts.valid, model_, TrainingConfig())),
      valid_texts_(task_.usable(texts.valid, *valid_)),
      pool_(pool),
      trainer_(*model_.transformer, *examples_, start.training, pool),
      best_(start.checkpoint.empty() ? BestSoFar() : restore_checkpoint(start.checkpoint, trainer_)) {
  if (start.checkpoint.empty() && start.training.unigram_bias)
    begin_at_unigrams(*model_.transformer, examples_->target_counts(model_.transformer->config()));
  model_.metadata["training"] = to_json(model_.transformer->config(), &start.training);
  model_.metadata.erase(progress_key);  // that of the checkpoint resumed from
  for (const auto& entry : model_.metadata)
    if (is_of_run(entry)) run_metadata_.insert(entry);
  std::erase_if(model_.metadata, is_of_run);
}

StepReport TrainingSession::step() {
  if (is_packed_) model_.transformer->unpack();
  is_packed_ = false;
  const StepReport report = trainer_.step();
  model_.metadata["steps"] = std::to_string(progress().step);
  for (const char* of_other_weights : figures_of_weights) model_.metadata.erase(of_other_weights);
  return report;
}

double TrainingSession::epochs() const {
  const Progress& p = trainer_.progress();
  return static_cast<double>(p.epoch) +
         static_cast<double>(p.batch) / static_cast<double>(trainer_.batches_per_epoch());
}

double TrainingSession::epochs_since_best() const {
  return static_cast<double>(progress().step - best_.step) / static_cast<double>(trainer_.batches_per_epoch());
}

const ModelFile& TrainingSession::packed_model() {
  if (!is_packed_) model_.transformer->pack();
  is_packed_ = true;
  return model_;
}

void TrainingSession::change(const std::string& json) {
  Config config = model_.transformer->config();
  TrainingConfig training = trainer_.config();
  from_json(json, config, &training);
  WASMFORMER_CHECK(config == model_.transformer->config(), ErrorCode::train, "a run cannot change its model");
  set_training(training);
}

void TrainingSession::set_training(const TrainingConfig& training) {
  trainer_.change(training);
  model_.metadata["training"] = to_json(model_.transformer->config(), &training);
}

TrainingSession::ValidationJob::ValidationJob(TrainingSession& run)
    : run_(run),
      batches_(plan_batches(*run.valid_, run.trainer_.config().batch_tokens)),
      inference_(run.task_.infers() ? run.task_.infer(run.packed_model(), run.pool_, *run.valid_texts_) : nullptr) {}

bool TrainingSession::ValidationJob::step() {
  if (batch_ == batches_.size()) return inference_ && inference_->step();
  const Trainer::LossSum batch = run_.trainer_.validation_loss(*run_.valid_, batches_[batch_++]);
  loss_.sum += batch.sum;
  loss_.units += batch.units;
  if (batch_ == batches_.size()) check_loss();
  return true;
}

// Weights that have diverged give no scores to search with either, which would be an error of the search.
void TrainingSession::ValidationJob::check_loss() const {
  const Index step = run_.progress().step;
  WASMFORMER_CHECK(
      std::isfinite(loss_.sum), ErrorCode::validation_not_finite,
      "the validation loss after step " << step << " is not finite; training has diverged. " << start_again,
      {"step", step});
}

Validation TrainingSession::ValidationJob::result() {
  Validation result;
  result.loss = loss_.sum / static_cast<double>(loss_.units);
  if (inference_) {
    result.scores = inference_->scores();
    inference_->settle(run_.model_);
  }
  // Among models whose results are about equally good, the better one has less loss. It could be the encoder's alone,
  // which has learned nothing yet when scores of words are as good as ever.
  constexpr double weight_of_loss = 0.01;
  const double error = result.scores.error ? *result.scores.error + weight_of_loss * result.loss : result.loss;
  result.is_best = error < run_.best_.error;
  if (result.is_best) run_.best_ = {error, run_.progress().step};
  auto& metadata = run_.model_.metadata;
  metadata["valid_loss"] = fixed(result.loss, 4);
  for (const char* key : figures_of_weights) {
    const auto found = result.scores.figures.find(std::string(key).substr(std::strlen("valid_")));
    if (found != result.scores.figures.end()) metadata[key] = fixed(found->second, 2);
  }
  return result;
}

Validation TrainingSession::validate() {
  ValidationJob job(*this);
  while (job.step()) {
  }
  return job.result();
}

TrainingSession::Metadata TrainingSession::metadata() const {
  Metadata all = model_.metadata;
  // The texts are not copied: they may be large.
  for (const auto& entry : run_metadata_)
    if (entry.first != texts_key) all.insert(entry);
  return all;
}

std::string TrainingSession::model_file(const Metadata& more) const {
  check_metadata(more);
  SafetensorsFile extra;
  extra.metadata = more;
  std::erase_if(extra.metadata, is_of_run);
  return serialize_model(model_, Precision::f32, extra);
}

std::string TrainingSession::checkpoint(const Metadata& more, bool with_texts) {
  check_metadata(more);
  Metadata metadata = more;
  metadata.insert(run_metadata_.begin(), run_metadata_.end());
  if (!with_texts) metadata.erase(texts_key);
  return serialize_checkpoint(model_, trainer_, best_, metadata);
}

}  // namespace wasmformer
