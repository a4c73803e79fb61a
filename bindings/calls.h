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

// `use`: "translate", "classify" or "tag". Throws Error, beginning with [place], unless the model does that.
void check_use(const Config& c, const std::string& use, const std::string& place) {
  const bool can = use == "translate" ? !c.is_encoder() : (use == "tag" ? c.tags : c.classes) > 0;
  WASMFORMER_CHECK(can, "[" << place << "] this model does not " << use << "; it " << purpose(c));
}

// The file is copied once, and kept no longer than it is read.
std::unique_ptr<Translator> load(const Bytes& file, const std::string& use) {
  auto model = std::make_unique<Translator>(from_bytes(file), pool(1));
  check_use(model->model().transformer->config(), use, "load");
  return model;
}

void add_labels(Json& info, const ModelFile& model) {
  if (!model.transformer->config().is_encoder()) return;
  info["classes"] = model.labels.classes;
  info["tags"] = model.labels.tags;
}

// JSON of what TranslatorInfo or EncoderInfo in bindings/js/shared/types.ts says of the file.
std::string info(const Translator& translator) {
  const ModelFile& model = translator.model();
  Json metadata = model.metadata;
  for (const char* own : {"languages", texts_key}) metadata.erase(own);
  Json json{{"config", Json::parse(to_json(model.transformer->config()))},
            {"parameters", model.transformer->parameter_count()},
            {"precision", model.precision},
            {"languages", Json(model.metadata).value("languages", "")},
            {"metadata", metadata}};
  add_labels(json, model);
  return json.dump();
}

// Steps for 25 ms: long enough that waiting for the slowest thread costs little, short enough to abort quickly.
template <class Stepped>
bool take_turn(Stepped& job) {
  return job.step_for(std::chrono::milliseconds(25));
}

// Source tokens per batch: enough for fast matrix products, few enough that no step delays other calls for long.
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

// One text: JSON of Annotation in bindings/js/shared/types.ts, without its attention.
struct AnnotationResult {
  std::string json;
  std::optional<AttentionMaps> attention;
};

void add_tags(Json& json, const ModelFile& model, const std::string& text, const std::vector<TaggedWord>& words) {
  std::vector<std::size_t> utf16{0};  // where each byte stands for JavaScript, which counts in UTF-16
  for (unsigned char byte : text) utf16.push_back(utf16.back() + ((byte & 0xC0) != 0x80) + (byte >= 0xF0));
  const auto place = [&](std::size_t begin, std::size_t end) -> Json {
    return {{"text", text.substr(begin, end - begin)}, {"start", utf16[begin]}, {"end", utf16[end]}};
  };
  Labels tags;
  json["tokens"] = json["spans"] = Json::array();
  for (const TaggedWord& w : words) {
    Json& token = json["tokens"].emplace_back(place(w.begin, w.begin + w.size));
    tags.push_back(token["tag"] = w.tag);
    token["probability"] = w.probability;
  }
  if (!are_spans(model.labels.tags)) return;
  for (const auto& [begin, end, type] : tag_spans(tags)) {
    const TaggedWord& last = words[end - 1];
    Json& span = json["spans"].emplace_back(place(words[begin].begin, last.begin + last.size));
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += words[i].probability;
    span["type"] = type;
    span["probability"] = sum / static_cast<double>(end - begin);
  }
}

// Finds the classes and tags of texts, a batch per step.
class Annotations {
 public:
  // `use`: "classify" or "tag", whose options these are.
  Annotations(const ModelFile& model, std::vector<std::string> texts, const std::string& options,
              const std::string& use)
      : model_(model),
        texts_(std::move(texts)),
        job_(model, pool(1), texts_, checked_options(model.transformer->config(), options, use), batch_tokens) {}

  bool step() { return job_.step(); }

  std::vector<AnnotationResult> result() {
    const Config& config = model_.transformer->config();
    std::vector<AnnotationResult> results;
    for (AnnotatedText& found : job_.take()) {
      Json json{{"sourceTokens", Json::array()}};
      for (const auto& [piece, id] : found.tokens) json["sourceTokens"].push_back({{"piece", piece}, {"id", id}});
      if (config.classes > 0) {
        json["labels"] = Json::array();
        for (const auto& [label, p] : found.labels) json["labels"].push_back({{"label", label}, {"probability", p}});
        json["isCut"] = found.is_cut;
      }
      if (config.tags > 0) add_tags(json, model_, texts_[results.size()], found.words);
      results.push_back({json.dump(-1, ' ', false, Json::error_handler_t::replace), std::move(found.attention)});
    }
    return results;
  }

 private:
  static AnnotateOptions checked_options(const Config& c, const std::string& json, const std::string& use) {
    check_use(c, use, use);
    AnnotateOptions options;
    from_json(json, fields(options), use, Naming::camel);
    WASMFORMER_CHECK(c.classes > 0 || options.top_labels == 0,
                     "[" << use << "] topLabels is given, but this model has no labels of whole texts");
    WASMFORMER_CHECK(c.tags > 0 || options.split,
                     "[" << use << "] split is false, but this model does not split texts");
    return options;
  }

  const ModelFile& model_;
  std::vector<std::string> texts_;
  AnnotationJob job_;
};
std::unique_ptr<Annotations> translator_annotate(const Translator& model, const std::vector<std::string>& texts,
                                                 const std::string& options, const std::string& use) {
  return std::make_unique<Annotations>(model.model(), texts, options, use);
}

std::map<std::string, std::string> metadata(const std::string& json) { return nlohmann::json::parse(json); }

// The text of a file, or its lines as pairs.
struct GivenText {
  std::string file;
  std::vector<std::string> sources, targets;
};
// What is not given is empty.
struct RunTexts {
  GivenText pairs, labelled, tagged, mono;
};

// Puts the texts of an encoder into `text`; returns what it is to find, nothing if there are none.
std::optional<Objective> take_annotated(ParallelText& text, const RunTexts& given, bool is_valid) {
  ParallelText labelled{given.labelled.sources, given.labelled.targets};
  ParallelText tagged{given.tagged.sources, given.tagged.targets};
  if (!given.labelled.file.empty())
    labelled = parse_tsv(given.labelled.file, is_valid ? "validLabelled" : "labelled", {.source = 1, .target = 0});
  if (!given.tagged.file.empty()) tagged = parse_conll(given.tagged.file, is_valid ? "validTagged" : "tagged");
  const bool classifies = !labelled.sources.empty(), tags = !tagged.sources.empty();
  const bool fills = !given.mono.sources.empty(), translates = !text.sources.empty() || !given.pairs.file.empty();
  WASMFORMER_CHECK(translates + (classifies || tags) + fills <= 1,
                   "[train] sentence pairs, labelled or tagged texts, and mono train different models; give one kind");
  if (fills) text = {given.mono.sources, given.mono.targets};
  if (classifies || tags) text = !tags ? labelled : !classifies ? tagged : labelled_and_tagged(labelled, tagged);
  if (tags) return classifies ? Objective::classify_and_tag : Objective::tag;
  if (classifies) return Objective::classify;
  return fills ? std::optional(Objective::masked) : std::nullopt;
}

std::unique_ptr<RunPlan> plan_run(const std::string& json, const RunTexts& texts, const RunTexts& valid,
                                  const Bytes& model, const Bytes& source_tokenizer, const Bytes& target_tokenizer,
                                  double max_bytes) {
  RunInput input;
  input.train = {texts.pairs.sources, texts.pairs.targets};
  input.valid = {valid.pairs.sources, valid.pairs.targets};
  input.tsv = texts.pairs.file;
  RunRequest request = run_request(json);
  request.objective = take_annotated(input.train, texts, false);
  const std::optional<Objective> valid_objective = take_annotated(input.valid, valid, true);
  WASMFORMER_CHECK(input.valid.sources.empty() || valid_objective == request.objective,
                   "[train] texts to validate on must be of the same kind as those to train on: validation with "
                   "pairs, validLabelled with labelled, validTagged with tagged");
  input.model = from_bytes(model);
  input.source_tokenizer = from_bytes(source_tokenizer);
  input.target_tokenizer = from_bytes(target_tokenizer);
  input.max_bytes = max_bytes;
  return std::make_unique<RunPlan>(std::move(request), std::move(input));
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
  all["annotate"] = schema_of<AnnotateOptions>();
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
  Json json{{"config", Json::parse(to_json(fields(config)))},
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
            {"metadata", metadata}};
  add_labels(json, run.model());
  return json.dump();
}

double take_mean_loss(TrainingRun& run) { return run.trainer().take_mean_loss(); }

std::unique_ptr<Job> run_start(TrainingRun& run, const std::vector<std::string>& texts, const std::string& options) {
  return start(run.packed_model(), texts, translate_options(run.model(), options));
}
std::unique_ptr<Job> run_start_greedy(TrainingRun& run, const std::vector<std::string>& texts, bool attention) {
  return start(run.packed_model(), texts, {.beam_size = 1, .attention = attention});
}

std::unique_ptr<Annotations> run_annotate(TrainingRun& run, const std::vector<std::string>& texts,
                                          const std::string& options, const std::string& use) {
  return std::make_unique<Annotations>(run.packed_model(), texts, options, use);
}

std::unique_ptr<EvaluationJob> run_evaluate(TrainingRun& run, const std::vector<std::string>& sources,
                                            const std::vector<std::string>& references, const std::string& json) {
  EvaluateOptions o;
  from_json(json, fields(o), "evaluate", Naming::camel);
  return std::make_unique<EvaluationJob>(run.packed_model(), pool(1), sources, references, o.translate);
}

using ValidationJob = TrainingRun::ValidationJob;
std::unique_ptr<ValidationJob> run_validate(TrainingRun& run) { return std::make_unique<ValidationJob>(run); }
// JSON of Validation in bindings/js/shared/trainer-types.ts, without samples.
std::string validation_result(ValidationJob& job) {
  const Validation found = job.result();
  Json json{{"loss", found.loss}, {"isBest", found.is_best}};
  for (const auto& [name, value] : found.figures) json[named(name.c_str(), Naming::camel)] = value;
  if (!found.figures.empty()) json["exactMatch"] = found.greedy.exact_match;
  if (found.figures.contains("bleu")) json["chrf"] = found.greedy.chrf;
  return json.dump();
}

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
