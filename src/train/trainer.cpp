#include "train/trainer.h"

#include <cmath>
#include <numeric>

#include "tasks/batches.h"
#include "train/schedule.h"

namespace wasmformer {
namespace {

// How many parameters the encoder has; visit() gives them before those of the heads.
std::size_t encoder_parameters(const Transformer& transformer) {
  std::size_t count = 0;
  transformer.visit([&](const ParameterInfo& info, const Parameter&) {
    if (info.stack != Stack::heads) ++count;
  });
  return count;
}

std::vector<Parameter*> parameters(Transformer& transformer) {
  transformer.enable_gradients();
  std::vector<Parameter*> all;
  transformer.visit([&](const ParameterInfo&, Parameter& p) { all.push_back(&p); });
  return all;
}

std::vector<bool> become_int8(const Transformer& transformer) {
  std::vector<bool> all;
  transformer.visit([&](const ParameterInfo& info, const Parameter&) { all.push_back(info.can_be_packed()); });
  return all;
}

std::vector<bool> are_in_layers(const Transformer& transformer) {
  std::vector<bool> all;
  transformer.visit([&](const ParameterInfo& info, const Parameter&) { all.push_back(info.is_matrix_in_layer()); });
  return all;
}

const TrainingConfig& checked(const TrainingConfig& config) {
  config.check();
  return config;
}

}  // namespace

Trainer::Trainer(Transformer& transformer, const Examples& examples, const TrainingConfig& config, ThreadPool& pool)
    : transformer_(transformer),
      examples_(examples),
      config_(checked(config)),
      pool_(pool),
      tape_(pool, /*recording=*/true),
      optimizer_(parameters(transformer), config, become_int8(transformer), are_in_layers(transformer)) {
  examples.check(config);
  if (config_.accumulate > 1) gradients_.emplace(transformer_, alone_);
  if (config_.output_sample > 0) {
    const std::vector<Index> counts = examples.target_counts(transformer.config());
    WASMFORMER_CHECK(!counts.empty(), ErrorCode::train, "output_sample is given, but the model predicts no tokens");
    sampler_.emplace(counts, config_.output_sample);
  }
  plan_epoch();
}

void Trainer::join(Communicator& ranks) {
  const auto own = static_cast<double>(examples_.fingerprint());
  double first = ranks.is_first() ? own : 0;
  ranks.sum({&first, 1});
  WASMFORMER_CHECK(!ranks.any(own != first), ErrorCode::train, "the ranks have read different texts or tokenizers");
  ranks_ = &ranks;
  gradients_.emplace(transformer_, ranks);
}

void Trainer::plan_epoch() {
  batches_ = plan_shuffled_batches(examples_, config_.batch_tokens, config_.seed, progress_.epoch);
}

void Trainer::resume(const Progress& progress) {
  const bool is_negative = progress.step < 0 || progress.epoch < 0 || progress.batch < 0 || progress.loss_units < 0;
  WASMFORMER_CHECK(!is_negative, ErrorCode::train,
                   "the run stands at step " << progress.step << ", epoch " << progress.epoch << ", batch "
                                             << progress.batch << ", with " << progress.loss_units
                                             << " tokens in its loss; none of them can be negative");
  progress_ = progress;
  plan_epoch();
  WASMFORMER_CHECK(progress.batch < batches_per_epoch(), ErrorCode::train,
                   "the run stands at batch " << progress.batch << " of an epoch, but the corpus has only "
                                              << batches_per_epoch() << " batches; is it another corpus?");
}

StepReport Trainer::step() {
  try {
    return take_step();
  } catch (...) {
    // Later steps add to gradients, so those of a step that failed must not stay.
    transformer_.visit([](const ParameterInfo&, Parameter& p) { p.gradient.setZero(); });
    if (gradients_) gradients_->clear();
    throw;
  }
}

std::vector<Trainer::Part> Trainer::next_parts(LossTotals& totals, Index& units) const {
  const Index first = progress_.batch, count = std::min(config_.accumulate, batches_per_epoch() - first);
  const Index ranks = ranks_->size(), rank = ranks_->rank();
  std::vector<Part> parts;
  for (Index i = first; i < first + count; ++i) {
    const auto number = static_cast<std::uint64_t>(progress_.step + 1) + (static_cast<std::uint64_t>(i - first) << 32);
    const std::uint64_t seed = mix(config_.seed) ^ number;
    std::unique_ptr<TaskBatch> batch = examples_.pack(batches_[i], transformer_, config_);
    units += batch->units();
    batch->hide(seed, /*is_training=*/true);
    if (sampler_) batch->sample_outputs(*sampler_, mix(seed));
    const LossTotals own = batch->totals();
    for (std::size_t term = 0; term < totals.size(); ++term) totals[term] += own[term];
    if (config_.accumulate < ranks)
      parts.push_back({batch->share(static_cast<int>(rank), static_cast<int>(ranks)), seed});
    else if ((i - first) * ranks / count == rank)
      parts.push_back({std::move(batch), seed});
  }
  return parts;
}

double Trainer::add_gradients(const std::vector<Part>& parts, const LossTotals& totals) {
  double loss = 0;
  for (const Part& part : parts) {
    const LossTotals own = part.batch->totals();
    if (std::accumulate(own.begin(), own.end(), 0.0) == 0) continue;  // a share without examples, or without masks
    tape_.clear();
    tape_.seed(part.seed);
    const Var mean = part.batch->loss(tape_, totals, config_.label_smoothing).loss;
    loss += mean.value()(0, 0);
    const bool is_last = &part == &parts.back();
    const auto passed = [&](Index layer) {
      if (gradients_ && is_last) gradients_->begin_sum(layer);
    };
    tape_.backward(mean, passed, [&] { ranks_->advance_sums(); });
    if (gradients_ && !is_last) gradients_->add_batch();
  }
  if (gradients_) gradients_->finish();
  ranks_->sum({&loss, 1});
  return loss;
}

StepReport Trainer::take_step() {
  const Index step = progress_.step + 1;
  StepReport report;
  LossTotals totals{};
  const std::vector<Part> parts = next_parts(totals, report.units);
  report.loss = add_gradients(parts, totals);
  WASMFORMER_CHECK(std::isfinite(report.loss), ErrorCode::loss_not_finite,
                   "the loss of step " << step << " is not finite; " << diverged, {"step", step});
  // ln V is the loss of guessing; a model that is fine-tuned may begin above it.
  const double guessing = examples_.guessing_loss(transformer_.config(), config_);
  if (highest_loss_ == 0) highest_loss_ = 3 * std::max(guessing, report.loss);
  WASMFORMER_CHECK(report.loss <= highest_loss_, ErrorCode::loss_too_high,
                   "the loss of step " << step << " is " << report.loss << ", far above the " << guessing
                                       << " of guessing; " << diverged,
                   {"step", step}, {"loss", report.loss}, {"guessing", guessing});
  if (Parameter* start = transformer_.zero_start_embedding())
    start->gradient.row(transformer_.config().bos_id).setZero();
  const Index d_model = transformer_.config().d_model;
  report.learning_rate = scheduled_rate(config_, d_model, step);
  const double muon_rate = config_.muon_rate * report.learning_rate / peak_rate(config_, d_model);
  const std::size_t frozen = step <= config_.freeze_steps ? encoder_parameters(transformer_) : 0;
  report.gradient_norm = optimizer_.step(pool_, step, report.learning_rate, frozen, muon_rate);

  progress_.step = step;
  progress_.loss_sum += report.loss * static_cast<double>(report.units);
  progress_.loss_units += report.units;
  progress_.batch = std::min(progress_.batch + config_.accumulate, batches_per_epoch());
  if (progress_.batch == batches_per_epoch()) {
    progress_.batch = 0;
    ++progress_.epoch;
    plan_epoch();
  }
  return report;
}

double Trainer::take_mean_loss() {
  const double mean = progress_.loss_sum / static_cast<double>(progress_.loss_units);
  progress_.loss_sum = 0;
  progress_.loss_units = 0;
  return mean;
}

Trainer::LossSum Trainer::validation_loss(const Examples& examples, std::span<const Index> which) {
  Tape tape(pool_, /*recording=*/false);
  const std::unique_ptr<TaskBatch> batch = examples.pack(which, transformer_, config_);
  const Index units = batch->units();
  constexpr std::uint64_t same_masks = 1;  // so that losses can be compared
  batch->hide(same_masks, /*is_training=*/false);
  return {batch->loss(tape, {}, 0).nll * static_cast<double>(units), units};
}

void Trainer::change(const TrainingConfig& config) {
  config.check();
  TrainingConfig fixed = config;
  fixed.schedule = config_.schedule;
  fixed.learning_rate = config_.learning_rate;
  fixed.warmup_steps = config_.warmup_steps;
  fixed.decay_steps = config_.decay_steps;
  fixed.muon_rate = config_.muon_rate;
  fixed.weight_decay = config_.weight_decay;
  fixed.clip_norm = config_.clip_norm;
  fixed.label_smoothing = config_.label_smoothing;
  WASMFORMER_CHECK(fixed == config_, ErrorCode::train,
                   "a run can change schedule, learning_rate, warmup_steps, decay_steps, muon_rate, "
                   "weight_decay, clip_norm and label_smoothing on its way, and nothing else");
  config_ = config;
  optimizer_.change(config);
}

}  // namespace wasmformer
