#include "train/loss.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/crf.h"
#include "ops/pooling.h"

namespace wasmformer {
namespace {

// Weights inversely proportional to how often each class occurs, 1 on average over the texts.
std::vector<double> balanced_weights(const Corpus& corpus, const Config& c) {
  std::vector<double> counts(static_cast<std::size_t>(c.classes), 0);
  double all = 0;
  for (const SentencePair& pair : corpus.pairs)
    for (TokenId id : pair.classes) ++counts[id], ++all;
  for (double& count : counts) count = all / static_cast<double>(c.classes) / std::max(count, 1.0);
  return counts;
}

// Refuses settings that only the training of encoders reads.
void check_encoder_settings(const TrainingConfig& config) {
  const TrainingConfig none;
  WASMFORMER_CHECK(config.word_dropout == none.word_dropout && config.tag_weight == none.tag_weight &&
                       config.balance_classes == none.balance_classes && config.mask_rate == none.mask_rate &&
                       config.freeze_steps == none.freeze_steps,
                   ErrorCode::train,
                   "word_dropout, tag_weight, balance_classes, mask_rate and freeze_steps are for models that "
                   "classify, tag or fill masks");
}

// The tags of each sentence.
Spans tag_spans(const Batch& batch) {
  Spans spans;
  for (auto row = batch.tagged.begin(); const Span& sentence : batch.source_spans) {
    const auto end = std::lower_bound(row, batch.tagged.end(), sentence.end());
    spans.push_back({row - batch.tagged.begin(), end - row});
    row = end;
  }
  return spans;
}

}  // namespace

TrainingLoss::TrainingLoss(const Transformer& transformer, const Corpus& corpus, const TrainingConfig& config)
    : transformer_(transformer) {
  const Config& c = transformer.config();
  if (!c.is_encoder()) check_encoder_settings(config);
  WASMFORMER_CHECK(!c.is_encoder() || config.bpe_dropout == 0, ErrorCode::train,
                   "bpe_dropout is for models that translate");
  if (config.balance_classes && c.classes > 0 && !c.multi_label) class_weights_ = balanced_weights(corpus, c);
}

void TrainingLoss::hide(Batch& batch, const TrainingConfig& config, std::uint64_t seed, bool training) const {
  const Config& c = transformer_.config();
  if (!c.is_encoder()) return;
  const bool is_masked = c.predicts_tokens();
  const double rate = is_masked ? config.mask_rate : training ? config.word_dropout : 0;
  Random random(seed);
  for (std::size_t i = 0; i < batch.source.size(); ++i) {
    TokenId& id = batch.source[i];
    // Begin and end tokens are never hidden.
    if (id == c.eos_id || id == c.bos_id || random.uniform() >= rate) continue;
    if (is_masked) batch.tagged.push_back(static_cast<Index>(i)), batch.tags.push_back(id);
    // Devlin et al. 2019, section 3.1: a tenth becomes a random token, a tenth stays.
    const double kind = is_masked ? random.uniform() : 0;
    if (kind < 0.8)
      id = c.pad_id;
    else if (kind < 0.9)
      id = static_cast<TokenId>(random.below(static_cast<std::uint64_t>(c.source_vocab_size)));
  }
  if (is_masked && batch.tagged.empty()) batch.tagged = {0}, batch.tags = {batch.source[0]};  // the mean needs one
}

void TrainingLoss::add_to(LossTotals& totals, const Batch& batch) const {
  const Config& c = transformer_.config();
  totals.targets += static_cast<double>(batch.target_out.size());
  totals.tags += static_cast<double>(batch.tags.size());
  if (c.multi_label) {
    totals.classes += static_cast<double>(batch.class_spans.size());
    return;
  }
  for (TokenId id : batch.classes) totals.classes += class_weights_.empty() ? 1 : class_weights_[id];
}

bool TrainingLoss::has_targets(const Batch& batch) const {
  LossTotals own;
  add_to(own, batch);
  return own.targets + own.classes + own.tags > 0;
}

Index TrainingLoss::units(const Batch& batch) const {
  const Config& c = transformer_.config();
  if (!c.is_encoder()) return static_cast<Index>(batch.target_out.size());
  return static_cast<Index>(c.predicts_tokens() ? batch.source.size() : batch.source_spans.size());
}

CrossEntropy TrainingLoss::operator()(Tape& tape, const Batch& batch, const TrainingConfig& config,
                                      const LossTotals& totals, double label_smoothing) const {
  const Config& c = transformer_.config();
  tape.set_first_row(batch.first_source);
  Var memory = transformer_.encode(tape, batch.source, batch.source_spans);
  if (!c.is_encoder()) {
    tape.set_first_row(batch.first_target);
    Var hidden = transformer_.decode(tape, batch.target_in, batch.target_spans, memory, batch.source_spans);
    return cross_entropy(tape, transformer_.logits(tape, hidden), batch.target_out, label_smoothing, {},
                         totals.targets);
  }
  if (c.predicts_tokens())
    return cross_entropy(tape, transformer_.logits(tape, rows_at(tape, memory, batch.tagged)), batch.tags,
                         label_smoothing, {}, totals.tags);
  std::optional<CrossEntropy> classes, tags;
  if (c.classes > 0) {
    Var logits = transformer_.classify(tape, memory, batch.source_spans);
    classes =
        c.multi_label
            ? binary_cross_entropy(tape, logits, batch.classes, batch.class_spans, label_smoothing, totals.classes)
            // Validation, which gives no totals, counts every text alike.
            : cross_entropy(tape, logits, batch.classes, label_smoothing,
                            totals.classes > 0 ? std::span<const double>(class_weights_) : std::span<const double>(),
                            totals.classes);
  }
  if (c.tags > 0) {
    Var logits = transformer_.tag(tape, memory, batch.tagged);
    tags = c.crf ? crf_loss(tape, logits, transformer_.tag_transitions(), batch.tags, tag_spans(batch), totals.tags)
                 : cross_entropy(tape, logits, batch.tags, label_smoothing, {}, totals.tags);
  }
  if (!classes || !tags) return classes ? *classes : *tags;
  return {weighted_sum(tape, classes->loss, tags->loss, config.tag_weight),
          classes->nll + config.tag_weight * tags->nll};
}

double TrainingLoss::of_guessing(const TrainingConfig& config) const {
  const Config& c = transformer_.config();
  const auto guess = [](Index choices) { return std::log(static_cast<double>(std::max<Index>(choices, 1))); };
  if (c.predicts_tokens()) return guess(c.target_vocab_size);
  return (c.multi_label ? static_cast<double>(c.classes) * guess(2) : guess(c.classes)) +
         config.tag_weight * guess(c.tags);
}

}  // namespace wasmformer
