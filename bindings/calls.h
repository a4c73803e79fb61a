// The functions that bindings.cpp declares to JavaScript.
#pragma once

#include <nlohmann/json.hpp>

#include "arrays.h"
#include "train/plan.h"

namespace wasmformer {
namespace {

using Json = nlohmann::ordered_json;

// The module's threads, made by its first call: a thread that has ended frees its worker for a next one only
// when JavaScript goes on, so they stay.
ThreadPool& pool(int threads) {
  static ThreadPool pool(threads);
  return pool;
}

int start_threads(int threads) { return pool(threads).size(); }

// The file is copied once, and kept no longer than it is read.
std::unique_ptr<Translator> load(const Bytes& file) { return std::make_unique<Translator>(from_bytes(file), pool(1)); }

// JSON of what TranslatorInfo in bindings/js/shared/types.ts says of the file.
std::string info(const Translator& translator) {
  const ModelFile& model = translator.model();
  Json metadata = model.metadata;
  for (const char* own : {"languages", texts_key}) metadata.erase(own);
  return Json{{"config", Json::parse(to_json(model.transformer->config()))},
              {"parameters", model.transformer->parameter_count()},
              {"precision", model.precision},
              {"languages", Json(model.metadata).value("languages", "")},
              {"metadata", metadata}}
      .dump();
}

// Source tokens per batch, of as many sentences as a product needs to be fast; a step also decides how long
// other calls wait.
using Job = BatchedTranslation;
constexpr Index batch_tokens = 1024;

std::unique_ptr<Job> start(const ModelFile& model, const std::vector<std::string>& texts,
                           const TranslateOptions& options) {
  auto job = std::make_unique<Job>(model, pool(1), texts, options, batch_tokens / options.beam_size);
  job->refuse_too_long();
  return job;
}
TranslateOptions translate_options(const ModelFile& model, const std::string& json) {
  return wasmformer::translate_options(json, model.transformer->config(), Naming::camel);
}
std::unique_ptr<Job> translator_start(const Translator& translator, const std::vector<std::string>& texts,
                                      const std::string& options) {
  return start(translator.model(), texts, translate_options(translator.model(), options));
}

std::map<std::string, std::string> metadata(const std::string& json) { return nlohmann::json::parse(json); }

struct RunTexts {
  std::string tsv;
  std::vector<std::string> sources, targets, valid_sources, valid_targets;
};

std::unique_ptr<RunPlan> plan_run(const std::string& request, const RunTexts& texts, const Bytes& model,
                                  const Bytes& source_tokenizer, const Bytes& target_tokenizer, double most_bytes) {
  RunInput input;
  input.train = {texts.sources, texts.targets};
  input.valid = {texts.valid_sources, texts.valid_targets};
  input.tsv = texts.tsv;
  input.model = from_bytes(model);
  input.source_tokenizer = from_bytes(source_tokenizer);
  input.target_tokenizer = from_bytes(target_tokenizer);
  input.most_bytes = most_bytes;
  return std::make_unique<RunPlan>(run_request(request), std::move(input));
}

std::unique_ptr<TrainingRun> begin_run(RunPlan& plan, const std::vector<Bytes>& trained) {
  std::vector<std::string> tokenizers;
  for (const Bytes& file : trained) tokenizers.push_back(from_bytes(file));
  return plan.begin(tokenizers, pool(1));
}

template <class Options>
Json schema_of() {
  Options options;
  return Json::parse(schema(fields(options), Naming::camel));
}

// JSON of Description in bindings/js/shared/description.ts.
std::string describe() {
  Json all = Json::parse(describe_training());
  all["translate"] = schema_of<TranslateOptions>();
  all["evaluate"] = schema_of<EvaluateOptions>();
  return all.dump();
}

// With the defaults of what is left out.
std::string run_options(const std::string& json) {
  RunOptions options;
  from_json(json, fields(options), "run", Naming::camel);
  options.pin_every = options.pin_every.value_or(options.report_every);
  return to_json(fields(options), Naming::camel);
}

// JSON of TrainerInfo in bindings/js/shared/trainer-types.ts; the task is "" without one.
std::string run_info(TrainingRun& run) {
  Config config = run.model().transformer->config();
  TrainingConfig training = run.trainer().config();
  Json metadata = run.metadata();
  const std::string task = metadata.value("task", "");
  const std::string languages = metadata.value("languages", "");
  for (const char* own : {"languages", "task", "training"}) metadata.erase(own);
  return Json{{"config", Json::parse(to_json(fields(config)))},
              {"training", Json::parse(to_json(fields(training)))},
              {"parameters", run.model().transformer->parameter_count()},
              {"trainPairs", run.corpus().pairs.size()},
              {"validationPairs", run.valid_corpus().pairs.size()},
              {"skippedPairs", run.corpus().skipped + run.valid_corpus().skipped},
              {"batchesPerEpoch", run.trainer().batches_per_epoch()},
              {"estimatedBytes", training_bytes(config, training)},
              {"step", run.progress().step},
              {"epoch", run.epochs()},
              {"task", task.substr(0, task.find(','))},
              {"languages", languages},
              {"metadata", metadata}}
      .dump();
}

double take_mean_loss(TrainingRun& run) { return run.trainer().take_mean_loss(); }

std::unique_ptr<Job> run_start(TrainingRun& run, const std::vector<std::string>& texts, const std::string& options) {
  return start(run.packed_model(), texts, translate_options(run.model(), options));
}
std::unique_ptr<Job> run_start_greedy(TrainingRun& run, const std::vector<std::string>& texts, bool attention) {
  return start(run.packed_model(), texts, {.beam_size = 1, .attention = attention});
}

std::unique_ptr<EvaluationJob> run_evaluate(TrainingRun& run, const std::vector<std::string>& sources,
                                            const std::vector<std::string>& references, const std::string& json) {
  EvaluateOptions o;
  from_json(json, fields(o), "evaluate", Naming::camel);
  const TranslateOptions options{.beam_size = o.beam_size, .length_penalty = o.length_penalty};
  return std::make_unique<EvaluationJob>(run.packed_model(), pool(1), sources, references, options);
}

using ValidationJob = TrainingRun::ValidationJob;
std::unique_ptr<ValidationJob> run_validate(TrainingRun& run) { return std::make_unique<ValidationJob>(run); }

Bytes run_checkpoint(TrainingRun& run, const std::string& more, bool with_texts) {
  return to_bytes(run.checkpoint(metadata(more), with_texts));
}
Bytes run_model_file(TrainingRun& run, const std::string& more) { return to_bytes(run.model_file(metadata(more))); }

// The first `count` validation pairs: sources, then targets.
std::vector<std::string> run_samples(const TrainingRun& run, Index count) {
  const ParallelText& text = run.valid_text();
  const auto n = std::min<std::ptrdiff_t>(count, static_cast<std::ptrdiff_t>(text.sources.size()));
  std::vector<std::string> both(text.sources.begin(), text.sources.begin() + n);
  both.insert(both.end(), text.targets.begin(), text.targets.begin() + n);
  return both;
}

}  // namespace
}  // namespace wasmformer
