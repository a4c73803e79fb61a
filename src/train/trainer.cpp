#include "train/trainer.h"

#include <cmath>

#include "ops/cross_entropy.h"

namespace wasmformer {
namespace {

CrossEntropy forward(Tape& tape, Transformer& transformer, const Batch& batch, double label_smoothing) {
  tape.clear();
  Var memory = transformer.encode(tape, batch.source, batch.source_spans);
  Var hidden = transformer.decode(tape, batch.target_in, batch.target_spans, memory, batch.source_spans);
  return cross_entropy(tape, transformer.logits(tape, hidden), batch.target_out, label_smoothing);
}

std::vector<Parameter*> parameters(Transformer& transformer) {
  transformer.enable_gradients();
  std::vector<Parameter*> all;
  transformer.visit([&](const std::string&, Parameter& p, Initializer) { all.push_back(&p); });
  return all;
}

}  // namespace

Trainer::Trainer(Transformer& transformer, const Corpus& corpus, const TrainingConfig& config,
                 ThreadPool& pool)
    : transformer_(transformer),
      corpus_(corpus),
      config_((config.check(), config)),
      pool_(pool),
      tape_(pool, /*recording=*/true),
      optimizer_(parameters(transformer), config) {
  plan_epoch();
}

void Trainer::plan_epoch() {
  batches_ = plan_shuffled_batches(corpus_, config_.batch_tokens, config_.seed, progress_.epoch);
}

void Trainer::resume(const Progress& progress) {
  WASMFORMER_CHECK(progress.step >= 0 && progress.epoch >= 0 && progress.batch >= 0,
                   "[train] the run stands at step " << progress.step << ", epoch " << progress.epoch
                                                     << ", batch " << progress.batch
                                                     << "; none of them can be negative");
  progress_ = progress;
  plan_epoch();
  WASMFORMER_CHECK(progress.batch < batches_per_epoch(),
                   "[train] the run stands at batch "
                       << progress.batch << " of an epoch, but the corpus has only " << batches_per_epoch()
                       << " batches; is it another corpus?");
}

StepReport Trainer::step() {
  try {
    return take_step();
  } catch (...) {
    // Later steps add to gradients, so those of a step that failed must not stay.
    transformer_.visit([](const std::string&, Parameter& p, Initializer) { p.gradient.setZero(); });
    throw;
  }
}

StepReport Trainer::take_step() {
  const Batch batch = pack(corpus_, batches_[progress_.batch], transformer_.config().bos_id);
  const Index step = progress_.step + 1;
  tape_.seed(mix(config_.seed) ^ static_cast<std::uint64_t>(step));
  StepReport report;
  const Var loss = forward(tape_, transformer_, batch, config_.label_smoothing).loss;
  report.loss = loss.value()(0, 0);
  WASMFORMER_CHECK(std::isfinite(report.loss),
                   "[train] the loss of step " << step << " is not finite; " << diverged);
  // ln V is the loss of guessing; a model that is fine-tuned may begin above it.
  const double guessing = std::log(static_cast<double>(transformer_.config().target_vocab_size));
  if (highest_loss_ == 0) highest_loss_ = 3 * std::max(guessing, report.loss);
  WASMFORMER_CHECK(report.loss <= highest_loss_, "[train] the loss of step " << step << " is " << report.loss
                                                                             << ", far above the " << guessing
                                                                             << " of guessing; " << diverged);
  tape_.backward(loss);
  report.learning_rate = learning_rate(config_, transformer_.config().d_model, step);
  report.gradient_norm = optimizer_.step(pool_, step, report.learning_rate);
  report.target_tokens = static_cast<Index>(batch.target_out.size());

  progress_.step = step;
  progress_.loss_sum += report.loss * static_cast<double>(report.target_tokens);
  progress_.loss_tokens += report.target_tokens;
  if (++progress_.batch == batches_per_epoch()) {
    progress_.batch = 0;
    ++progress_.epoch;
    plan_epoch();
  }
  return report;
}

double Trainer::take_mean_loss() {
  const double mean = progress_.loss_sum / static_cast<double>(progress_.loss_tokens);
  progress_.loss_sum = 0;
  progress_.loss_tokens = 0;
  return mean;
}

Trainer::LossSum Trainer::validation_loss(const Corpus& corpus, std::span<const Index> pairs) {
  Tape tape(pool_, /*recording=*/false);
  const Batch batch = pack(corpus, pairs, transformer_.config().bos_id);
  const Index tokens = static_cast<Index>(batch.target_out.size());
  return {forward(tape, transformer_, batch, 0).nll * static_cast<double>(tokens), tokens};
}

void Trainer::change(const TrainingConfig& config) {
  config.check();
  TrainingConfig fixed = config;
  fixed.schedule = config_.schedule, fixed.learning_rate = config_.learning_rate;
  fixed.warmup_steps = config_.warmup_steps, fixed.decay_steps = config_.decay_steps;
  fixed.weight_decay = config_.weight_decay, fixed.clip_norm = config_.clip_norm;
  fixed.label_smoothing = config_.label_smoothing;
  WASMFORMER_CHECK(fixed == config_,
                   "[train] a run can change schedule, learning_rate, warmup_steps, decay_steps, "
                   "weight_decay, clip_norm and label_smoothing on its way, and nothing else");
  config_ = config;
  optimizer_.change(config);
}

}  // namespace wasmformer
