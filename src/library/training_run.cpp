#include "wasmformer/training_run.h"

#include <algorithm>

#include "library/bytes.h"
#include "library/mapped_file.h"
#include "tasks/annotate/labels.h"
#include "tasks/translate/translate_task.h"
#include "train/run_setup.h"
#include "train/training_loop.h"

namespace wasmformer {
namespace {

std::shared_ptr<Texts> annotated(const std::vector<AnnotatedText>& texts) {
  const auto has = [&](Labels AnnotatedText::*labels) {
    return std::ranges::any_of(texts, [&](const AnnotatedText& text) { return !(text.*labels).empty(); });
  };
  return std::make_shared<AnnotatedTexts>(
      texts, AnnotatedTexts::Kind{.has_classes = has(&AnnotatedText::classes), .has_tags = has(&AnnotatedText::words)});
}

std::shared_ptr<Texts> texts_of(const TrainingData& data, const std::string& objective) {
  const bool has_pairs = !data.pairs.sources.empty() || !data.pairs.targets.empty();
  const bool has_labels = !data.annotated.empty();
  const bool has_lines = !data.lines.empty();
  WASMFORMER_CHECK(has_pairs + has_labels + has_lines <= 1, ErrorCode::train,
                   "pairs, annotated texts and lines train different models; give one kind");
  if (has_pairs) return texts_of(data.pairs);
  if (has_labels) return annotated(data.annotated);
  return has_lines ? texts_of_lines(data.lines, objective) : nullptr;
}

std::string model_of(const TrainingInput& input) {
  WASMFORMER_CHECK(input.model_path.empty() || input.model.empty(), ErrorCode::train,
                   "model and model_path are given; choose one of them");
  if (input.model_path.empty()) return std::string(text_of(input.model));
  return std::string(MappedFile(input.model_path).bytes());
}

RunInput run_input(const RunRequest& request, const TrainingInput& input) {
  RunInput all;
  all.train = texts_of(input.train, request.objective);
  all.valid = texts_of(input.valid, request.objective);
  WASMFORMER_CHECK(!all.train || !all.valid || &all.train->task() == &all.valid->task(), ErrorCode::train,
                   "texts to validate on must be of the same kind as those to train on");
  all.model = model_of(input);
  all.model_name = input.model_path.string();
  all.source_tokenizer = text_of(input.source_tokenizer);
  all.target_tokenizer = text_of(input.target_tokenizer);
  return all;
}

std::unique_ptr<TrainingSession> begin(const RunRequest& request, const TrainingInput& input, ThreadPool& pool) {
  check_ranges(fields(request), "train");
  WASMFORMER_CHECK(request.weights.empty(), ErrorCode::train, "weights are given, but there is one list of pairs");
  RunSetup setup(request, run_input(request, input));
  std::vector<std::string> trained;
  for (const TokenizerJob& job : setup.untrained()) trained.push_back(train_tokenizer(job.sentences, job.options));
  return setup.begin(trained, pool);
}

RunEnd end_of(const training_events::Done& done, const std::stop_token& stop) {
  if (done.is_interrupted && stop.stop_requested()) return RunEnd::stopped;
  return done.has_lost_patience ? RunEnd::patience : RunEnd::goal;
}

}  // namespace

struct TrainingRun::Impl {
  Impl(const RunRequest& request, const TrainingInput& input, int threads)
      : pool(threads), session(begin(request, input, pool)) {}

  ThreadPool pool;
  Communicator alone;
  std::unique_ptr<TrainingSession> session;
};

TrainingRun::TrainingRun(const RunRequest& request, const TrainingInput& input, int threads)
    : impl_(std::make_unique<Impl>(request, input, threads)) {}
TrainingRun::~TrainingRun() = default;
TrainingRun::TrainingRun(TrainingRun&&) noexcept = default;
TrainingRun& TrainingRun::operator=(TrainingRun&&) noexcept = default;

RunEnd TrainingRun::run(const RunOptions& given, const std::function<void(const Report&)>& report,
                        const std::stop_token& stop) {
  check_ranges(fields(given), "run");
  RunOptions options = given;
  const bool has_goal = options.steps || options.epochs || options.minutes || options.budget;
  const std::optional<BudgetPlan>& plan = impl_->session->budget();
  if (plan && !has_goal) options.budget = plan->seconds / seconds_per_minute;
  TrainingLoop loop(*impl_->session, std::move(options), impl_->alone, [&] { return stop.stop_requested(); });
  for (;;) {
    const TrainingEvent event = loop.next();
    const auto* news = std::get_if<Report>(&event);
    if (news && report) report(*news);
    if (const auto* done = std::get_if<training_events::Done>(&event)) return end_of(*done, stop);
  }
}

StepReport TrainingRun::step() { return impl_->session->step(); }
Validation TrainingRun::validate() { return impl_->session->validate(); }

Index TrainingRun::steps() const noexcept { return impl_->session->progress().step; }
double TrainingRun::epochs() const noexcept { return impl_->session->epochs(); }
Index TrainingRun::parameter_count() const noexcept { return impl_->session->model().transformer->parameter_count(); }

std::vector<std::byte> TrainingRun::model_file() const { return bytes_of(impl_->session->model_file()); }
std::vector<std::byte> TrainingRun::checkpoint() const { return bytes_of(impl_->session->checkpoint()); }

}  // namespace wasmformer
