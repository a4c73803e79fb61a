// Training runs: what they are given, their steps, and what they report to JavaScript.
#include <algorithm>

#include "annotate.h"
#include "tasks/translate/evaluate.h"
#include "tasks/translate/translate_task.h"
#include "train/run_setup.h"
#include "train/training_loop.h"
#include "translate.h"

namespace wasmformer {
namespace {

std::map<std::string, std::string> metadata(const std::string& json) { return nlohmann::json::parse(json); }

// The text of a file, or its lines as pairs.
struct GivenPairs {
  std::string file;
  std::vector<std::string> sources, targets;
};
// The text of a file, or its texts.
struct GivenAnnotated {
  std::string file;
  std::vector<AnnotatedText> texts;
};
// Texts of a run; those that are not given are empty. There is one corpus, or one for each weight of the request.
struct RunTexts {
  std::vector<GivenPairs> corpora;
  GivenAnnotated labelled, tagged;
  std::vector<std::string> mono;
};

std::shared_ptr<Texts> annotated(const RunTexts& given, bool is_valid) {
  const bool is_file = !given.labelled.file.empty();
  std::vector<AnnotatedText> labelled = given.labelled.texts, tagged = given.tagged.texts;
  if (is_file) labelled = parse_labelled(given.labelled.file, is_valid ? "validLabeled" : "labeled");
  if (!given.tagged.file.empty()) tagged = parse_conll(given.tagged.file, is_valid ? "validTagged" : "tagged");
  const AnnotatedTexts::Kind kind{
      .has_classes = !labelled.empty(), .has_tags = !tagged.empty(), .commas_separate = is_file};
  if (!kind.has_tags) return std::make_shared<AnnotatedTexts>(std::move(labelled), kind);
  if (!kind.has_classes) return std::make_shared<AnnotatedTexts>(std::move(tagged), kind);
  return std::make_shared<AnnotatedTexts>(labelled_and_tagged(labelled, std::move(tagged)), kind);
}

bool is_given(const GivenPairs& given) { return !given.file.empty() || !given.sources.empty(); }
bool is_given(const GivenAnnotated& given) { return !given.file.empty() || !given.texts.empty(); }

ParallelText pairs(const GivenPairs& given) {
  WASMFORMER_CHECK(given.file.empty() || given.sources.empty(), ErrorCode::train,
                   "pairs, tsv and task all give sentence pairs; choose one of them");
  if (given.file.empty()) return {given.sources, given.targets};
  return parse_tsv(given.file, "tsv");
}

ParallelText all_pairs(const std::vector<GivenPairs>& corpora, const std::vector<double>& weights) {
  ParallelText all;
  for (std::size_t i = 0; i < corpora.size(); ++i)
    append(all, weights.empty() ? pairs(corpora[i]) : weighted(pairs(corpora[i]), weights[i]));
  return all;
}

// The texts, or null if none are given. A teacher translates plain texts too.
std::shared_ptr<Texts> texts_to_train(const RunTexts& given, const RunRequest& request, bool has_teacher) {
  const bool has_pairs = std::any_of(given.corpora.begin(), given.corpora.end(),
                                     [](const GivenPairs& corpus) { return is_given(corpus); });
  const bool has_labels = is_given(given.labelled) || is_given(given.tagged);
  const bool has_plain = !given.mono.empty();
  WASMFORMER_CHECK(has_pairs + has_labels + (has_plain && !has_teacher) <= 1, ErrorCode::train,
                   "sentence pairs, labeled or tagged texts, and text train different models; give one kind");
  if (has_labels) return annotated(given, /*is_valid=*/false);
  if (has_teacher) return texts_of(with_sources(all_pairs(given.corpora, request.weights), given.mono));
  if (has_pairs) return texts_of(all_pairs(given.corpora, request.weights));
  return has_plain ? texts_of_lines(given.mono, request.objective) : nullptr;
}

std::shared_ptr<Texts> texts_to_validate(const RunTexts& given) {
  if (is_given(given.labelled) || is_given(given.tagged)) return annotated(given, /*is_valid=*/true);
  const ParallelText pairs = all_pairs(given.corpora, {});
  return pairs.sources.empty() ? nullptr : texts_of(pairs);
}

bool is_same_kind(const RunTexts& a, const RunTexts& b) {
  return is_given(a.labelled) == is_given(b.labelled) && is_given(a.tagged) == is_given(b.tagged);
}

std::unique_ptr<RunSetup> set_up_run(const std::string& json, const RunTexts& texts, const RunTexts& valid,
                                     const Bytes& model, const Bytes& source_tokenizer, const Bytes& target_tokenizer,
                                     double max_bytes, const LoadedModel* teacher) {
  RunRequest request = run_request(json);
  RunInput input;
  input.train = texts_to_train(texts, request, teacher != nullptr);
  input.valid = texts_to_validate(valid);
  WASMFORMER_CHECK(!input.valid || !input.train || is_same_kind(texts, valid), ErrorCode::train,
                   "texts to validate on must be of the same kind as those to train on: validation with "
                   "pairs, validLabeled with labeled, validTagged with tagged");
  input.model = from_bytes(model);
  input.source_tokenizer = from_bytes(source_tokenizer);
  input.target_tokenizer = from_bytes(target_tokenizer);
  input.max_bytes = max_bytes;
  if (teacher) input.teacher = {std::shared_ptr<void>(), &teacher->model()};  // JavaScript deletes it
  return std::make_unique<RunSetup>(std::move(request), std::move(input));
}

Communicator& alone() {
  static Communicator ranks;
  return ranks;
}

// Only of a run with a teacher.
std::unique_ptr<Distillation> distillation_of(const RunSetup& setup) { return setup.distillation(pool(), alone()); }

std::unique_ptr<TrainingSession> begin_run(RunSetup& setup, const std::vector<Bytes>& trained) {
  std::vector<std::string> tokenizers;
  for (const Bytes& file : trained) tokenizers.push_back(from_bytes(file));
  return setup.begin(tokenizers, pool());
}

// BudgetPlan but for its settings, which are the run's.
struct BudgetFigures {
  Index steps = 0;
  double epochs = 0, seconds_per_step = 0, seconds = 0;
};

std::optional<BudgetFigures> figures_of(const std::optional<BudgetPlan>& plan) {
  if (!plan || plan->steps == 0) return std::nullopt;
  return BudgetFigures{.steps = plan->steps,
                       .epochs = plan->epochs,
                       .seconds_per_step = plan->seconds_per_step,
                       .seconds = plan->seconds};
}

// Properties of the run in TrainerInfo (bindings/js/shared/trainer-types.ts).
struct RunInfo {
  ModelConfigValue config{emscripten::val::undefined()};
  TrainingConfigValue training{emscripten::val::undefined()};
  Index parameters = 0;
  Index train_texts = 0, validation_texts = 0, skipped_texts = 0;
  Index batches_per_epoch = 0;
  double estimated_bytes = 0;
  Index step = 0;
  double epoch = 0;
  std::optional<std::string> task;
  std::string languages;
  StringsValue metadata{emscripten::val::undefined()};
  std::optional<Labels> classes, tags;
  std::optional<BudgetFigures> budget;
};

RunInfo run_info(TrainingSession& run) {
  const Config& config = run.model().transformer->config();
  const TrainingConfig& training = run.trainer().config();
  const StringMap metadata = run.metadata();
  const std::string task = string_of(metadata, "task");
  RunInfo info{.config = ModelConfigValue(to_value(json_of(fields(config)))),
               .training = TrainingConfigValue(to_value(json_of(fields(training)))),
               .parameters = run.model().transformer->parameter_count(),
               .train_texts = run.examples().size(),
               .validation_texts = run.valid_examples().size(),
               .skipped_texts = run.examples().skipped + run.valid_examples().skipped,
               .batches_per_epoch = run.trainer().batches_per_epoch(),
               .estimated_bytes = training_bytes(config, training),
               .step = run.progress().step,
               .epoch = run.epochs(),
               .task = std::nullopt,
               .languages = string_of(metadata, "languages"),
               .metadata = strings_without(metadata, {"languages", "task", "training"}),
               .classes = labels_of_encoder(run.model(), &LabelNames::classes),
               .tags = labels_of_encoder(run.model(), &LabelNames::tags),
               .budget = figures_of(run.budget())};
  if (!task.empty()) info.task = task.substr(0, task.find(','));  // behind it is the number of pairs
  return info;
}

std::unique_ptr<Job> run_start(TrainingSession& run, const std::vector<std::string>& texts, const std::string& options,
                               Index first) {
  return start(run.packed_model(), texts, translate_options(run.model(), options), first);
}
std::unique_ptr<Job> run_start_greedy(TrainingSession& run, const std::vector<std::string>& texts, bool attention) {
  return start(run.packed_model(), texts, {.beam_size = 1, .attention = attention});
}

std::unique_ptr<Annotations> run_annotate(TrainingSession& run, const std::vector<std::string>& texts,
                                          const std::string& options, const std::string& use) {
  return std::make_unique<Annotations>(run.packed_model(), texts, options, use);
}

std::unique_ptr<EvaluationJob> run_evaluate(TrainingSession& run, const std::vector<std::string>& sources,
                                            const std::vector<std::string>& references, const std::string& json) {
  EvaluateOptions o;
  from_json(json, fields(o), "evaluate", Naming::camel);
  return std::make_unique<EvaluationJob>(run.packed_model(), pool(), sources, references, o.translate);
}

// Until it is deleted, only it may take steps of the run.
std::unique_ptr<TrainingLoop> run_loop(TrainingSession& run, const std::string& json) {
  RunOptions options;
  from_json(json, fields(options), "run", Naming::camel);
  const bool has_goal = options.steps || options.epochs || options.minutes || options.budget;
  if (run.budget() && !has_goal) options.budget = run.budget()->seconds / seconds_per_minute;
  return std::make_unique<TrainingLoop>(run, std::move(options), alone());
}

EMSCRIPTEN_DECLARE_VAL_TYPE(FiguresValue);

// The scores by their names in JavaScript.
FiguresValue figures_of(const Validation& validation) {
  emscripten::val value = emscripten::val::object();
  for (const auto* figures : {&validation.scores.figures, &validation.scores.further})
    for (const auto& [name, figure] : *figures) value.set(named(name.c_str(), Naming::camel), figure);
  return FiguresValue(value);
}

struct ValidationReport {
  double loss = 0;
  bool is_best = false;
  FiguresValue figures{emscripten::val::undefined()};
};

// Figures since the last report: training_events::Report.
struct RunReport {
  Index step = 0;
  double epoch = 0, loss = 0;
  double learning_rate = 0, gradient_norm = 0;
  Index units = 0;
  double step_seconds = 0;
  std::optional<ValidationReport> validation;
  bool pins = false;
};

RunReport report_of(const training_events::Report& report) {
  RunReport result{.step = report.step,
                   .epoch = report.epoch,
                   .loss = report.loss,
                   .learning_rate = report.learning_rate,
                   .gradient_norm = report.gradient_norm,
                   .units = report.units,
                   .step_seconds = report.step_seconds,
                   .validation = std::nullopt,
                   .pins = report.pins};
  if (const auto& validation = report.validation)
    result.validation =
        ValidationReport{.loss = validation->loss, .is_best = validation->is_best, .figures = figures_of(*validation)};
  return result;
}

// Event of the training loop: a step, a report, or the end; with nothing set, a part of a validation.
struct RunEvent {
  bool is_done = false;
  std::optional<double> step_seconds;
  std::optional<RunReport> report;
};

RunEvent next_event(TrainingLoop& loop) {
  const TrainingEvent event = loop.next();
  RunEvent result;
  result.is_done = std::holds_alternative<training_events::Done>(event);
  if (const auto* step = std::get_if<training_events::Step>(&event)) result.step_seconds = step->seconds;
  if (const auto* report = std::get_if<training_events::Report>(&event)) result.report = report_of(*report);
  return result;
}

Bytes run_checkpoint(TrainingSession& run, const std::string& more, bool with_texts) {
  return to_bytes(run.checkpoint(metadata(more), with_texts));
}
Bytes run_model_file(TrainingSession& run, const std::string& more) { return to_bytes(run.model_file(metadata(more))); }

// The first `count` texts of validation.
std::vector<KnownText> run_samples(const TrainingSession& run, Index count) {
  const Texts& texts = run.valid_texts();
  std::vector<KnownText> samples;
  for (std::size_t i = 0; i < std::min(texts.size(), static_cast<std::size_t>(count)); ++i)
    samples.push_back(texts.known(i));
  return samples;
}

std::string run_use(const TrainingSession& run) { return run.task().use(run.model().transformer->config()); }

}  // namespace
}  // namespace wasmformer

EMSCRIPTEN_BINDINGS(wasmformer_train) {
  using namespace emscripten;
  using namespace wasmformer;
  register_array<GivenPairs>("GivenPairs[]");
  register_array<TokenizerJob>("TokenizerJob[]");
  register_array<AnnotatedText>("AnnotatedText[]");
  register_array<KnownText>("KnownText[]");
  value_object<AnnotatedText>("AnnotatedText")
      .field("text", &AnnotatedText::text)
      .field("words", &AnnotatedText::words)
      .field("classes", &AnnotatedText::classes)
      .field("tags", &AnnotatedText::tags);
  value_object<KnownText>("KnownText")
      .field("text", &KnownText::text)
      .field("translation", &KnownText::translation)
      .field("words", &KnownText::words)
      .field("classes", &KnownText::classes)
      .field("tags", &KnownText::tags);
  value_object<GivenPairs>("GivenPairs")
      .field("file", &GivenPairs::file)
      .field("sources", &GivenPairs::sources)
      .field("targets", &GivenPairs::targets);
  value_object<GivenAnnotated>("GivenAnnotated")
      .field("file", &GivenAnnotated::file)
      .field("texts", &GivenAnnotated::texts);
  value_object<RunTexts>("RunTexts")
      .field("corpora", &RunTexts::corpora)
      .field("labelled", &RunTexts::labelled)
      .field("tagged", &RunTexts::tagged)
      .field("mono", &RunTexts::mono);
  value_object<TokenizerOptions>("TokenizerOptions")
      .field("vocabSize", &TokenizerOptions::vocab_size)
      .field("type", &TokenizerOptions::type)
      .field("normalization", &TokenizerOptions::normalization)
      .field("hardVocabLimit", &TokenizerOptions::hard_vocab_limit);
  value_object<TokenizerJob>("TokenizerJob")
      .field("sentences", &TokenizerJob::sentences)
      .field("options", &TokenizerJob::options);
  register_optional<double>();
  register_optional<ValidationReport>();
  register_optional<RunReport>();
  register_type<FiguresValue>("Record<string, number>");
  value_object<ValidationReport>("ValidationReport")
      .field("loss", &ValidationReport::loss)
      .field("isBest", &ValidationReport::is_best)
      .field("figures", &ValidationReport::figures);
  value_object<RunReport>("RunReport")
      .field("step", &RunReport::step)
      .field("epoch", &RunReport::epoch)
      .field("loss", &RunReport::loss)
      .field("learningRate", &RunReport::learning_rate)
      .field("gradientNorm", &RunReport::gradient_norm)
      .field("units", &RunReport::units)
      .field("stepSeconds", &RunReport::step_seconds)
      .field("validation", &RunReport::validation)
      .field("pins", &RunReport::pins);
  value_object<RunEvent>("RunEvent")
      .field("isDone", &RunEvent::is_done)
      .field("stepSeconds", &RunEvent::step_seconds)
      .field("report", &RunEvent::report);
  value_object<BudgetFigures>("BudgetFigures")
      .field("steps", &BudgetFigures::steps)
      .field("epochs", &BudgetFigures::epochs)
      .field("secondsPerStep", &BudgetFigures::seconds_per_step)
      .field("seconds", &BudgetFigures::seconds);
  register_optional<BudgetFigures>();
  value_object<RunInfo>("RunInfo")
      .field("config", &RunInfo::config)
      .field("training", &RunInfo::training)
      .field("parameters", &RunInfo::parameters)
      .field("trainTexts", &RunInfo::train_texts)
      .field("validationTexts", &RunInfo::validation_texts)
      .field("skippedTexts", &RunInfo::skipped_texts)
      .field("batchesPerEpoch", &RunInfo::batches_per_epoch)
      .field("estimatedBytes", &RunInfo::estimated_bytes)
      .field("step", &RunInfo::step)
      .field("epoch", &RunInfo::epoch)
      .field("task", &RunInfo::task)
      .field("languages", &RunInfo::languages)
      .field("metadata", &RunInfo::metadata)
      .field("classes", &RunInfo::classes)
      .field("tags", &RunInfo::tags)
      .field("budget", &RunInfo::budget);
  value_object<RunOptions>("ShownOptions")
      .field("samples", &RunOptions::samples)
      .field("attention", &RunOptions::attention)
      .field("pinned", &RunOptions::pinned);
  value_object<Evaluation>("Evaluation")
      .field("bleu", &Evaluation::bleu)
      .field("chrf", &Evaluation::chrf)
      .field("exactMatch", &Evaluation::exact_match)
      .field("translations", &Evaluation::hypotheses)
      .field("targetTokens", &Evaluation::target_tokens);

  class_<EvaluationJob>("EvaluationJob")
      .function("step", &take_turn<EvaluationJob>)
      .function("result", &EvaluationJob::result);
  class_<TrainingLoop>("TrainingLoop").function("options", &TrainingLoop::options).function("next", &next_event);
  class_<Distillation>("Distillation").function("step", &take_turn<Distillation>);
  class_<RunSetup>("RunSetup")
      .function("distillation", &distillation_of)
      .function("take", &RunSetup::take)
      .function("untrained", &RunSetup::untrained)
      .function("begin", &begin_run);
  class_<TrainingSession>("TrainingRun")
      .function("info", &run_info)
      .function("change", &TrainingSession::change)
      .function("samples", &run_samples)
      .function("use", &run_use)
      .function("loop", &run_loop)
      .function("start", &run_start)
      .function("startGreedy", &run_start_greedy)
      .function("annotate", &run_annotate)
      .function("evaluate", &run_evaluate)
      .function("checkpoint", &run_checkpoint)
      .function("modelFile", &run_model_file);

  function("setUpRun", &set_up_run, allow_raw_pointers());
}
