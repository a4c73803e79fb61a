// Training runs: what they are given, their steps, and what they report to JavaScript.
#include "annotate.h"
#include "train/plan.h"
#include "translate.h"

namespace wasmformer {
namespace {

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
    labelled = parse_tsv(given.labelled.file, is_valid ? "validLabeled" : "labeled", {.source = 1, .target = 0});
  if (!given.tagged.file.empty()) tagged = parse_conll(given.tagged.file, is_valid ? "validTagged" : "tagged");
  const bool classifies = !labelled.sources.empty(), tags = !tagged.sources.empty();
  const bool fills = !given.mono.sources.empty(), translates = !text.sources.empty() || !given.pairs.file.empty();
  WASMFORMER_CHECK(translates + (classifies || tags) + fills <= 1, ErrorCode::train,
                   "sentence pairs, labeled or tagged texts, and mono train different models; give one kind");
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
  WASMFORMER_CHECK(input.valid.sources.empty() || valid_objective == request.objective, ErrorCode::train,
                   "texts to validate on must be of the same kind as those to train on: validation with "
                   "pairs, validLabeled with labeled, validTagged with tagged");
  input.model = from_bytes(model);
  input.source_tokenizer = from_bytes(source_tokenizer);
  input.target_tokenizer = from_bytes(target_tokenizer);
  input.max_bytes = max_bytes;
  return std::make_unique<RunPlan>(std::move(request), std::move(input));
}

std::unique_ptr<TrainingRun> begin_run(RunPlan& plan, const std::vector<Bytes>& trained) {
  std::vector<std::string> tokenizers;
  for (const Bytes& file : trained) tokenizers.push_back(from_bytes(file));
  return plan.begin(tokenizers, pool());
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

std::unique_ptr<Job> run_start(TrainingRun& run, const std::vector<std::string>& texts, const std::string& options,
                               Index first) {
  return start(run.packed_model(), texts, translate_options(run.model(), options), first);
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
  return std::make_unique<EvaluationJob>(run.packed_model(), pool(), sources, references, o.translate);
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

EMSCRIPTEN_BINDINGS(wasmformer_train) {
  using namespace emscripten;
  using namespace wasmformer;
  register_array<TokenizerJob>("TokenizerJob[]");
  value_object<GivenText>("GivenText")
      .field("file", &GivenText::file)
      .field("sources", &GivenText::sources)
      .field("targets", &GivenText::targets);
  value_object<RunTexts>("RunTexts")
      .field("pairs", &RunTexts::pairs)
      .field("labelled", &RunTexts::labelled)
      .field("tagged", &RunTexts::tagged)
      .field("mono", &RunTexts::mono);
  value_object<TokenizerOptions>("TokenizerOptions")
      .field("vocabSize", &TokenizerOptions::vocab_size)
      .field("type", &TokenizerOptions::type)
      .field("normalization", &TokenizerOptions::normalization);
  value_object<TokenizerJob>("TokenizerJob")
      .field("sentences", &TokenizerJob::sentences)
      .field("options", &TokenizerJob::options);
  value_object<StepReport>("StepReport")
      .field("loss", &StepReport::loss)
      .field("learningRate", &StepReport::learning_rate)
      .field("gradientNorm", &StepReport::gradient_norm)
      .field("targetTokens", &StepReport::target_tokens);
  value_object<Evaluation>("Evaluation")
      .field("bleu", &Evaluation::bleu)
      .field("chrf", &Evaluation::chrf)
      .field("exactMatch", &Evaluation::exact_match)
      .field("translations", &Evaluation::hypotheses)
      .field("targetTokens", &Evaluation::target_tokens);

  class_<EvaluationJob>("EvaluationJob")
      .function("step", &take_turn<EvaluationJob>)
      .function("result", &EvaluationJob::result);
  class_<ValidationJob>("ValidationJob").function("step", &ValidationJob::step).function("result", &validation_result);
  class_<RunPlan>("RunPlan").function("untrained", &RunPlan::untrained).function("begin", &begin_run);
  class_<TrainingRun>("TrainingRun")
      .function("step", &TrainingRun::step)
      .function("epochs", &TrainingRun::epochs)
      .function("takeMeanLoss", &take_mean_loss)
      .function("info", &run_info)
      .function("change", &TrainingRun::change)
      .function("samples", &run_samples)
      .function("validate", &run_validate)
      .function("start", &run_start)
      .function("startGreedy", &run_start_greedy)
      .function("annotate", &run_annotate)
      .function("evaluate", &run_evaluate)
      .function("checkpoint", &run_checkpoint)
      .function("modelFile", &run_model_file);

  function("planRun", &plan_run);
  function("runOptions", &run_options);
}
