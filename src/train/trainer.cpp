#include "train/trainer.h"

#include <cmath>
#include <optional>

#include "ops/cross_entropy.h"
#include "ops/pooling.h"

namespace wasmformer {
namespace {

// Hides tokens from an encoder: those to predict where it is trained on masks, some of them otherwise. Returns the rows
// that are hidden. A text's begin and end are always seen.
std::vector<Index> hide_tokens(Batch& batch, const Config& c, double rate, Random& random, bool vary) {
  std::vector<Index> hidden;
  for (std::size_t i = 0; i < batch.source.size(); ++i) {
    TokenId& id = batch.source[i];
    if (id == c.eos_id || id == c.bos_id || random.uniform() >= rate) continue;
    hidden.push_back(static_cast<Index>(i));
    // Devlin et al. 2019, section 3.1: a tenth is replaced by any token, a tenth stays.
    const double kind = vary ? random.uniform() : 0;
    if (kind < 0.8)
      id = c.pad_id;
    else if (kind < 0.9)
      id = static_cast<TokenId>(random.below(static_cast<std::uint64_t>(c.source_vocab_size)));
  }
  return hidden;
}

CrossEntropy encoder_loss(Tape& tape, Transformer& transformer, Batch batch, const TrainingConfig& training,
                          std::uint64_t seed, double smoothing, std::span<const double> class_weights) {
  const Config& c = transformer.config();
  const bool is_masked = c.predicts_tokens();
  Random random(seed);
  const double rate = is_masked ? training.mask_rate : tape.recording() ? training.word_dropout : 0;
  const std::vector<TokenId> original = batch.source;
  std::vector<Index> hidden = hide_tokens(batch, c, rate, random, is_masked);
  if (is_masked && hidden.empty()) hidden.push_back(0);  // a mean needs one
  Var memory = transformer.encode(tape, batch.source, batch.source_spans);
  if (is_masked) {
    std::vector<TokenId> expected;
    for (Index row : hidden) expected.push_back(original[row]);
    return cross_entropy(tape, transformer.logits(tape, rows_at(tape, memory, hidden)), expected, smoothing);
  }
  std::optional<CrossEntropy> classes, tags;
  if (c.classes > 0) {
    Var logits = transformer.classify(tape, memory, batch.source_spans);
    classes = c.multi_label ? binary_cross_entropy(tape, logits, batch.classes, batch.class_spans, smoothing)
                            : cross_entropy(tape, logits, batch.classes, smoothing, class_weights);
  }
  if (c.tags > 0) tags = cross_entropy(tape, transformer.tag(tape, memory, batch.tagged), batch.tags, smoothing);
  if (!classes || !tags) return classes ? *classes : *tags;
  return {weighted_sum(tape, classes->loss, tags->loss, training.tag_weight),
          classes->nll + training.tag_weight * tags->nll};
}

CrossEntropy forward(Tape& tape, Transformer& transformer, const Batch& batch, const TrainingConfig& training,
                     std::uint64_t seed, double label_smoothing, std::span<const double> class_weights) {
  tape.clear();
  if (transformer.config().is_encoder())
    return encoder_loss(tape, transformer, batch, training, seed, label_smoothing, class_weights);
  Var memory = transformer.encode(tape, batch.source, batch.source_spans);
  Var hidden = transformer.decode(tape, batch.target_in, batch.target_spans, memory, batch.source_spans);
  return cross_entropy(tape, transformer.logits(tape, hidden), batch.target_out, label_smoothing);
}

// What the mean loss of a batch is the mean of.
Index loss_units(const Batch& batch, const Config& c) {
  if (!c.is_encoder()) return static_cast<Index>(batch.target_out.size());
  return static_cast<Index>(c.predicts_tokens() ? batch.source.size() : batch.source_spans.size());
}

// What only an encoder's training reads.
void check_encoder_settings(const TrainingConfig& config) {
  const TrainingConfig none;
  WASMFORMER_CHECK(config.word_dropout == none.word_dropout && config.tag_weight == none.tag_weight &&
                       config.balance_classes == none.balance_classes && config.mask_rate == none.mask_rate &&
                       config.freeze_steps == none.freeze_steps,
                   "[train] word_dropout, tag_weight, balance_classes, mask_rate and freeze_steps are for models that "
                   "classify, tag or fill masks");
}

// Only the heads keep their gradients.
void freeze_encoder(Transformer& transformer) {
  transformer.visit([](const std::string& name, Parameter& p, Initializer) {
    if (name.starts_with("model.")) p.gradient.setZero();
  });
}

// Marian's decoder begins with zeros instead of a token: with its positions, so does one that is trained here.
void keep_start(Transformer& transformer) {
  const Config& c = transformer.config();
  if (c.positions != Positions::sinusoidal_marian || c.is_encoder()) return;
  transformer.visit([&c](const std::string& name, Parameter& p, Initializer) {
    if (name == "model.shared.weight" || name == "model.decoder.embed_tokens.weight")
      p.gradient.row(c.bos_id).setZero();
  });
}

// Inverse to how often each class occurs, 1 on average over the texts.
std::vector<double> balanced_weights(const Corpus& corpus, const Config& c) {
  std::vector<double> counts(static_cast<std::size_t>(c.classes), 0);
  double all = 0;
  for (const SentencePair& pair : corpus.pairs)
    for (TokenId id : pair.classes) ++counts[id], ++all;
  for (double& count : counts) count = all / static_cast<double>(c.classes) / std::max(count, 1.0);
  return counts;
}

double guessing_loss(const Config& c, const TrainingConfig& training) {
  const auto guess = [](Index choices) { return std::log(static_cast<double>(std::max<Index>(choices, 1))); };
  if (c.predicts_tokens()) return guess(c.target_vocab_size);
  return (c.multi_label ? static_cast<double>(c.classes) * guess(2) : guess(c.classes)) +
         training.tag_weight * guess(c.tags);
}

std::vector<Parameter*> parameters(Transformer& transformer) {
  transformer.enable_gradients();
  std::vector<Parameter*> all;
  transformer.visit([&](const std::string&, Parameter& p, Initializer) { all.push_back(&p); });
  return all;
}

}  // namespace

Trainer::Trainer(Transformer& transformer, const Corpus& corpus, const TrainingConfig& config, ThreadPool& pool)
    : transformer_(transformer),
      corpus_(corpus),
      config_((config.check(), config)),
      pool_(pool),
      tape_(pool, /*recording=*/true),
      optimizer_(parameters(transformer), config) {
  const Config& c = transformer.config();
  if (!c.is_encoder()) check_encoder_settings(config_);
  if (config_.balance_classes && c.classes > 0 && !c.multi_label) class_weights_ = balanced_weights(corpus, c);
  plan_epoch();
}

void Trainer::plan_epoch() {
  batches_ = plan_shuffled_batches(corpus_, config_.batch_tokens, config_.seed, progress_.epoch);
}

void Trainer::resume(const Progress& progress) {
  WASMFORMER_CHECK(progress.step >= 0 && progress.epoch >= 0 && progress.batch >= 0,
                   "[train] the run stands at step " << progress.step << ", epoch " << progress.epoch << ", batch "
                                                     << progress.batch << "; none of them can be negative");
  progress_ = progress;
  plan_epoch();
  WASMFORMER_CHECK(progress.batch < batches_per_epoch(),
                   "[train] the run stands at batch " << progress.batch << " of an epoch, but the corpus has only "
                                                      << batches_per_epoch() << " batches; is it another corpus?");
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
  const std::uint64_t seed = mix(config_.seed) ^ static_cast<std::uint64_t>(step);
  tape_.seed(seed);
  StepReport report;
  const Var loss = forward(tape_, transformer_, batch, config_, seed, config_.label_smoothing, class_weights_).loss;
  report.loss = loss.value()(0, 0);
  WASMFORMER_CHECK(std::isfinite(report.loss), "[train] the loss of step " << step << " is not finite; " << diverged);
  // ln V is the loss of guessing; a model that is fine-tuned may begin above it.
  const double guessing = guessing_loss(transformer_.config(), config_);
  if (highest_loss_ == 0) highest_loss_ = 3 * std::max(guessing, report.loss);
  WASMFORMER_CHECK(report.loss <= highest_loss_, "[train] the loss of step " << step << " is " << report.loss
                                                                             << ", far above the " << guessing
                                                                             << " of guessing; " << diverged);
  tape_.backward(loss);
  if (step <= config_.freeze_steps) freeze_encoder(transformer_);
  keep_start(transformer_);
  report.learning_rate = learning_rate(config_, transformer_.config().d_model, step);
  report.gradient_norm = optimizer_.step(pool_, step, report.learning_rate);
  report.target_tokens = loss_units(batch, transformer_.config());

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
  const Index units = loss_units(batch, transformer_.config());
  constexpr std::uint64_t same_masks = 1;  // so that losses can be compared
  return {forward(tape, transformer_, batch, config_, same_masks, 0, {}).nll * static_cast<double>(units), units};
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
