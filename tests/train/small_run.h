// Small training runs: random pairs, and everything that a run has changed as bytes.
#pragma once

#include <string>

#include "tasks/translate/batch.h"
#include "tests/tasks/translate/letters_model.h"
#include "train/trainer.h"

namespace wasmformer {

// Pairs of 1 to 6 letters (ids from 5), both sides with the end token.
inline Corpus random_corpus(Index pairs, std::uint64_t seed) {
  Random random(seed);
  Corpus corpus;
  for (Index i = 0; i < pairs; ++i) {
    auto& pair = corpus.pairs.emplace_back();
    for (auto* side : {&pair.source, &pair.target}) {
      for (Index n = 1 + random.below(6); n > 0; --n) side->push_back(static_cast<TokenId>(5 + random.below(8)));
      side->push_back(3);
    }
  }
  return corpus;
}

inline TrainingConfig small_training() {
  TrainingConfig t;
  t.learning_rate = 0.5;
  t.warmup_steps = 5;
  t.batch_tokens = 40;
  return t;
}

// The mean over all target tokens.
inline double validation_loss(Trainer& trainer, const Examples& examples) {
  Trainer::LossSum all;
  for (const auto& pairs : plan_batches(examples, trainer.config().batch_tokens)) {
    const Trainer::LossSum batch = trainer.validation_loss(examples, pairs);
    all.sum += batch.sum;
    all.units += batch.units;
  }
  return all.sum / static_cast<double>(all.units);
}

inline std::string bytes_of(const Matrix& m) {
  return {reinterpret_cast<const char*>(m.data()), static_cast<std::size_t>(m.size()) * sizeof(Scalar)};
}

inline std::string weight_bytes(const Transformer& transformer) {
  std::string bytes;
  transformer.visit([&](const ParameterInfo&, const Parameter& p) { bytes += bytes_of(p.value); });
  return bytes;
}

// Weights, optimizer state and progress.
inline std::string state_bytes(Trainer& trainer) {
  std::string bytes = weight_bytes(trainer.transformer());
  for (const auto& moments : trainer.optimizer().moments())
    bytes += bytes_of(moments.mean) + bytes_of(moments.variance) + bytes_of(moments.exact);
  const Progress& p = trainer.progress();
  for (double number : {static_cast<double>(p.step), static_cast<double>(p.epoch), static_cast<double>(p.batch),
                        p.loss_sum, static_cast<double>(p.loss_units)})
    bytes += std::to_string(number) + " ";
  return bytes;
}

}  // namespace wasmformer
