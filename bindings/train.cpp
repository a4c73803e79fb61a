// Training runs: what they are given, their steps, and what they report to JavaScript.
#include <algorithm>

#include "annotate.h"
#include "tasks/mask/mask_task.h"
#include "tasks/translate/evaluate.h"
#include "tasks/translate/translate_task.h"
#include "train/plan.h"
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
// What is not given is empty. There is one corpus, or one for each weight of the request.
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
std::shared_ptr<Texts> texts_to_train(const RunTexts& given, const std::vector<double>& weights, bool has_teacher) {
  const bool has_pairs = std::any_of(given.corpora.begin(), given.corpora.end(),
                                     [](const GivenPairs& corpus) { return is_given(corpus); });
  const bool has_labels = is_given(given.labelled) || is_given(given.tagged);
  const bool has_plain = !given.mono.empty();
  WASMFORMER_CHECK(has_pairs + has_labels + (has_plain && !has_teacher) <= 1, ErrorCode::train,
                   "sentence pairs, labeled or tagged texts, and mono train different models; give one kind");
  if (has_labels) return annotated(given, /*is_valid=*/false);
  if (has_teacher) return texts_of(with_sources(all_pairs(given.corpora, weights), given.mono));
  if (has_pairs) return texts_of(all_pairs(given.corpora, weights));
  return has_plain ? std::make_shared<PlainTexts>(given.mono) : nullptr;
}

std::shared_ptr<Texts> texts_to_validate(const RunTexts& given) {
  if (is_given(given.labelled) || is_given(given.tagged)) return annotated(given, /*is_valid=*/true);
  const ParallelText pairs = all_pairs(given.corpora, {});
  return pairs.sources.empty() ? nullptr : texts_of(pairs);
}

bool is_same_kind(const RunTexts& a, const RunTexts& b) {
  return is_given(a.labelled) == is_given(b.labelled) && is_given(a.tagged) == is_given(b.tagged);
}

std::unique_ptr<RunPlan> plan_run(const std::string& json, const RunTexts& texts, const RunTexts& valid,
                                  const Bytes& model, const Bytes& source_tokenizer, const Bytes& target_tokenizer,
                                  double max_bytes, const Translator* teacher) {
  RunRequest request = run_request(json);
  RunInput input;
  input.train = texts_to_train(texts, request.weights, teacher != nullptr);
  input.valid = texts_to_validate(valid);
  WASMFORMER_CHECK(!input.valid || !input.train || is_same_kind(texts, valid), ErrorCode::train,
                   "texts to validate on must be of the same kind as those to train on: validation with "
                   "pairs, validLabeled with labeled, validTagged with tagged");
  input.model = from_bytes(model);
  input.source_tokenizer = from_bytes(source_tokenizer);
  input.target_tokenizer = from_bytes(target_tokenizer);
  input.max_bytes = max_bytes;
  if (teacher) input.teacher = {std::shared_ptr<void>(), &teacher->model()};  // JavaScript deletes it
  return std::make_unique<RunPlan>(std::move(request), std::move(input));
}

Ranks& alone() {
  static Ranks ranks;
  return ranks;
}

// Only of a plan with a teacher.
std::unique_ptr<Distillation> plan_distillation(const RunPlan& plan) { return plan.distillation(pool(), alone()); }

std::unique_ptr<TrainingRun> begin_run(RunPlan& plan, const std::vector<Bytes>& trained) {
  std::vector<std::string> tokenizers;
  for (const Bytes& file : trained) tokenizers.push_back(from_bytes(file));
  return plan.begin(tokenizers, pool());
}

// JSON of TrainerInfo in bindings/js/shared/trainer-types.ts; the task is "" without one.
std::string run_info(TrainingRun& run) {
  Config config = run.model().transformer->config();
  TrainingConfig training = run.trainer().config();
  Json metadata = run.metadata();
  const std::string task = metadata.value("task", "");
  const std::string languages = metadata.value("languages", "");
  for (const char* own : {"languages", "task", "training"}) metadata.erase(own);
  Json json{{"config", json_of(fields(config))},
            {"training", json_of(fields(training))},
            {"parameters", run.model().transformer->parameter_count()},
            {"trainPairs", run.examples().size()},
            {"validationPairs", run.valid_examples().size()},
            {"skippedPairs", run.examples().skipped + run.valid_examples().skipped},
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

EMSCRIPTEN_DECLARE_VAL_TYPE(RunEvent);

// Until it is deleted, only it may take steps of the run.
std::unique_ptr<TrainingLoop> run_loop(TrainingRun& run, const std::string& json) {
  RunOptions options;
  from_json(json, fields(options), "run", Naming::camel);
  return std::make_unique<TrainingLoop>(run, std::move(options), alone());
}

// Validation in bindings/js/shared/trainer-types.ts, without samples.
emscripten::val to_value(const Validation& validation) {
  emscripten::val value = emscripten::val::object();
  value.set("loss", validation.loss);
  value.set("isBest", validation.is_best);
  for (const auto* figures : {&validation.scores.figures, &validation.scores.further})
    for (const auto& [name, figure] : *figures) value.set(named(name.c_str(), Naming::camel), figure);
  return value;
}

emscripten::val to_value(const training_events::Report& report) {
  emscripten::val value = emscripten::val::object();
  value.set("step", report.step);
  value.set("epoch", report.epoch);
  value.set("loss", report.loss);
  value.set("learningRate", report.learning_rate);
  value.set("gradientNorm", report.gradient_norm);
  value.set("units", report.units);
  value.set("stepSeconds", report.step_seconds);
  value.set("pins", report.pins);
  if (report.validation) value.set("validation", to_value(*report.validation));
  return value;
}

// NativeRunEvent in bindings/js/worker/native.ts.
RunEvent next_event(TrainingLoop& loop) {
  const TrainingEvent event = loop.next();
  emscripten::val value = emscripten::val::object();
  value.set("isDone", std::holds_alternative<training_events::Done>(event));
  if (const auto* step = std::get_if<training_events::Step>(&event)) value.set("stepSeconds", step->seconds);
  if (const auto* report = std::get_if<training_events::Report>(&event)) value.set("report", to_value(*report));
  return RunEvent(value);
}

Bytes run_checkpoint(TrainingRun& run, const std::string& more, bool with_texts) {
  return to_bytes(run.checkpoint(metadata(more), with_texts));
}
Bytes run_model_file(TrainingRun& run, const std::string& more) { return to_bytes(run.model_file(metadata(more))); }

// The first `count` texts of validation.
std::vector<KnownText> run_samples(const TrainingRun& run, Index count) {
  const Texts& texts = run.valid_texts();
  std::vector<KnownText> samples;
  for (std::size_t i = 0; i < std::min(texts.size(), static_cast<std::size_t>(count)); ++i)
    samples.push_back(texts.known(i));
  return samples;
}

std::string run_use(const TrainingRun& run) { return run.task().use(run.model().transformer->config()); }

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
  register_type<RunEvent>("NativeRunEvent");
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
  class_<Distillation>("Distillation").function("step", &take_turn<Distillation>).function("done", &Distillation::done);
  class_<RunPlan>("RunPlan")
      .function("distillation", &plan_distillation)
      .function("take", &RunPlan::take)
      .function("untrained", &RunPlan::untrained)
      .function("begin", &begin_run);
  class_<TrainingRun>("TrainingRun")
      .function("info", &run_info)
      .function("change", &TrainingRun::change)
      .function("samples", &run_samples)
      .function("use", &run_use)
      .function("loop", &run_loop)
      .function("start", &run_start)
      .function("startGreedy", &run_start_greedy)
      .function("annotate", &run_annotate)
      .function("evaluate", &run_evaluate)
      .function("checkpoint", &run_checkpoint)
      .function("modelFile", &run_model_file);

  function("planRun", &plan_run, allow_raw_pointers());
}
