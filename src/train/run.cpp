#include "train/run.h"

#include <array>
#include <cstdio>
#include <cstring>

namespace wasmformer {
namespace {

Corpus tokenized(const ParallelText& text, const ModelFile& model, const PieceDropout& dropout = {}) {
  if (model.transformer->config().is_encoder()) return annotated_corpus(text, model);
  return tokenize_corpus(text.sources, text.targets, *model.source_tokenizer, *model.target_tokenizer,
                         model.transformer->config(), dropout);
}

// The pairs that `corpus` kept. An encoder keeps all texts: a label missing from the training text counts as not found.
ParallelText usable(const ParallelText& text, const Corpus& corpus, const Config& config) {
  if (config.is_encoder()) return text;
  ParallelText kept;
  for (Index line : corpus.lines) {
    kept.sources.push_back(text.sources[line]);
    kept.targets.push_back(text.targets[line]);
  }
  return kept;
}

bool is_of_run(const std::pair<const std::string, std::string>& entry) { return entry.first.starts_with("run."); }

// Fills in the scores of the annotations; returns how far they are from perfect, from 0 to 1.
double take_annotations(Validation& result, const ModelFile& model, const ParallelText& text,
                        const std::vector<AnnotatedText>& found) {
  const Config& config = model.transformer->config();
  result.figures = score(model, text, found).figures;
  double right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Annotation a{chosen_labels(found[i], config), tag_names(found[i])};
    result.greedy.hypotheses.push_back(to_string(a, objective(config)));
    right += result.greedy.hypotheses.back() == text.targets[i];
  }
  result.greedy.exact_match = 100 * right / static_cast<double>(found.size());
  double sum = 0, count = 0;
  for (const char* key : {"accuracy", "span_f1", "tag_accuracy"}) {
    const auto figure = result.figures.find(key);
    const bool is_second = std::string_view(key) == "tag_accuracy" && result.figures.contains("span_f1");
    if (figure != result.figures.end() && !is_second) sum += figure->second, ++count;
  }
  return 1 - sum / count / 100;
}

}  // namespace

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

TrainingRun::TrainingRun(TrainingStart start, TrainingTexts texts, ThreadPool& pool)
    : model_(std::move(start.model)),
      corpus_(tokenized(texts.train, model_, {start.training.bpe_dropout, start.training.seed})),
      valid_(tokenized(texts.valid, model_)),
      valid_text_(usable(texts.valid, valid_, model_.transformer->config())),
      pool_(pool),
      trainer_(*model_.transformer, corpus_, start.training, pool),
      best_(start.checkpoint.empty() ? BestSoFar() : restore_checkpoint(start.checkpoint, trainer_)) {
  model_.metadata["training"] = to_json(model_.transformer->config(), &start.training);
  model_.metadata.erase("progress");  // that of the checkpoint resumed from
  for (const auto& entry : model_.metadata)
    if (is_of_run(entry)) run_metadata_.insert(entry);
  std::erase_if(model_.metadata, is_of_run);
}

StepReport TrainingRun::step() {
  if (is_packed_) model_.transformer->unpack();
  is_packed_ = false;
  const StepReport report = trainer_.step();
  model_.metadata["steps"] = std::to_string(progress().step);
  for (const char* of_other_weights : figures_of_weights) model_.metadata.erase(of_other_weights);
  return report;
}

double TrainingRun::epochs() const {
  const Progress& p = trainer_.progress();
  return static_cast<double>(p.epoch) +
         static_cast<double>(p.batch) / static_cast<double>(trainer_.batches_per_epoch());
}

const ModelFile& TrainingRun::packed_model() {
  if (!is_packed_) model_.transformer->pack();
  is_packed_ = true;
  return model_;
}

void TrainingRun::change(const std::string& json) {
  Config config = model_.transformer->config();
  TrainingConfig training = trainer_.config();
  from_json(json, config, &training);
  WASMFORMER_CHECK(config == model_.transformer->config(), ErrorCode::train, "a run cannot change its model");
  trainer_.change(training);
  model_.metadata["training"] = to_json(config, &training);
}

TrainingRun::ValidationJob::ValidationJob(TrainingRun& run)
    : run_(run), batches_(plan_batches(run.valid_, run.trainer_.config().batch_tokens)) {
  const ParallelText& text = run.valid_text_;
  const Config& config = run.model_.transformer->config();
  if (!config.is_encoder())
    greedy_.emplace(run.packed_model(), run.pool_, text.sources, text.targets, greedy());
  else if (!config.predicts_tokens())
    annotation_.emplace(run.packed_model(), run.pool_, text.sources, AnnotateOptions{.split = false});
}

bool TrainingRun::ValidationJob::step() {
  if (batch_ == batches_.size()) return greedy_ ? greedy_->step() : annotation_ && annotation_->step();
  const Trainer::LossSum batch = run_.trainer_.validation_loss(run_.valid_, batches_[batch_++]);
  loss_.sum += batch.sum, loss_.tokens += batch.tokens;
  return true;
}

Validation TrainingRun::ValidationJob::result() {
  Validation result;
  result.loss = loss_.sum / static_cast<double>(loss_.tokens);
  double badness = result.loss;
  if (greedy_) {
    result.greedy = greedy_->result();
    result.figures["bleu"] = result.greedy.bleu;
  } else if (annotation_) {
    badness = take_annotations(result, run_.model_, run_.valid_text_, annotation_->take());
  }
  result.is_best = badness < run_.best_.valid_loss;
  if (result.is_best) run_.best_ = {badness, run_.progress().step};
  auto& metadata = run_.model_.metadata;
  metadata["valid_loss"] = fixed(result.loss, 4);
  for (const char* key : figures_of_weights) {
    const auto found = result.figures.find(std::string(key).substr(std::strlen("valid_")));
    if (found != result.figures.end()) metadata[key] = fixed(found->second, 2);
  }
  return result;
}

Validation TrainingRun::validate() {
  ValidationJob job(*this);
  while (job.step()) {
  }
  return job.result();
}

TrainingRun::Metadata TrainingRun::metadata() const {
  Metadata all = model_.metadata;
  // The texts are not copied: they may be large.
  for (const auto& entry : run_metadata_)
    if (entry.first != texts_key) all.insert(entry);
  return all;
}

std::string TrainingRun::model_file(const Metadata& more) const {
  SafetensorsFile extra;
  extra.metadata = more;
  std::erase_if(extra.metadata, is_of_run);
  return serialize_model(model_, Precision::f32, extra);
}

std::string TrainingRun::checkpoint(const Metadata& more, bool with_texts) {
  Metadata metadata = more;
  metadata.insert(run_metadata_.begin(), run_metadata_.end());
  if (!with_texts) metadata.erase(texts_key);
  return serialize_checkpoint(model_, trainer_, best_, metadata);
}

}  // namespace wasmformer
