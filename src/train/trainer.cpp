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
  transformer.visit([&](const std::string&, Parameter& p, Initial) { all.push_back(&p); });
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
  batches_ = plan_batches(corpus_, config_.batch_tokens, config_.seed, progress_.epoch);
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
  const Batch batch = pack(corpus_, batches_[progress_.batch], transformer_.config().bos_id);
  const Index step = progress_.step + 1;
  tape_.seed(mix(config_.seed) ^ static_cast<std::uint64_t>(step));
  StepReport report;
  const Var loss = forward(tape_, transformer_, batch, config_.label_smoothing).loss;
  report.loss = loss.value()(0, 0);
  WASMFORMER_CHECK(std::isfinite(report.loss),
                   "[train] the loss of step " << step << " is not finite; a lower learning_rate may help");
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

double Trainer::validation_loss(const Corpus& corpus) {
  Tape tape(pool_, /*recording=*/false);
  double sum = 0;
  Index tokens = 0;
  for (const auto& pairs : plan_batches(corpus, config_.batch_tokens, /*seed=*/0, /*epoch=*/0)) {
    const Batch batch = pack(corpus, pairs, transformer_.config().bos_id);
    const Index n = static_cast<Index>(batch.target_out.size());
    sum += forward(tape, transformer_, batch, 0).nll * static_cast<double>(n);
    tokens += n;
  }
  return sum / static_cast<double>(tokens);
}

}  // namespace wasmformer
