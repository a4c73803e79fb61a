#include "train/run.h"

#include <cstdio>

namespace wasmformer {
namespace {

Corpus tokenized(const ParallelText& text, const ModelFile& model) {
  return tokenize_corpus(text.sources, text.targets, *model.source_tokenizer, *model.target_tokenizer,
                         model.transformer->config());
}

}  // namespace

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

void take_vocabulary(Config& config, const Tokenizer& source, const Tokenizer& target) {
  config.source_vocab_size = source.vocab_size();
  config.target_vocab_size = target.vocab_size();
  config.pad_id = target.pad_id() >= 0 ? target.pad_id() : target.unk_id();
  config.bos_id = target.bos_id() >= 0 ? target.bos_id() : config.pad_id;
  config.eos_id = target.eos_id();
  WASMFORMER_CHECK(config.eos_id >= 0 && config.eos_id == source.eos_id(),
                   "[train] the tokenizers need one end token, </s>, with the same id");
}

TrainingRun::TrainingRun(ModelFile model, const TrainingConfig& training, TrainingTexts texts,
                         ThreadPool& pool, std::string_view checkpoint)
    : model_(std::move(model)),
      valid_text_(std::move(texts.valid)),
      corpus_(tokenized(texts.train, model_)),
      valid_(tokenized(valid_text_, model_)),
      pool_(pool),
      trainer_(*model_.transformer, corpus_, training, pool),
      best_(checkpoint.empty() ? BestSoFar() : restore_checkpoint(checkpoint, trainer_)) {
  model_.metadata["training"] = to_json(model_.transformer->config(), &training);
  model_.metadata.erase("progress");  // that of the checkpoint resumed from
}

double TrainingRun::epochs() const {
  const Progress& p = trainer_.progress();
  return static_cast<double>(p.epoch) +
         static_cast<double>(p.batch) / static_cast<double>(trainer_.batches_per_epoch());
}

Validation TrainingRun::validate() {
  model_.transformer->pack();
  Validation result;
  result.loss = trainer_.validation_loss(valid_);
  TranslateOptions greedy;
  greedy.beam_size = 1;
  result.greedy = evaluate(model_, pool_, valid_text_.sources, valid_text_.targets, greedy);
  model_.transformer->unpack();
  result.is_best = result.loss < best_.valid_loss;
  if (result.is_best) {
    best_ = {result.loss, progress().step};
    model_.metadata["steps"] = std::to_string(best_.step);
    model_.metadata["valid_loss"] = fixed(result.loss, 4);
    model_.metadata["valid_bleu"] = fixed(result.greedy.bleu, 2);
  }
  return result;
}

}  // namespace wasmformer
